// Package sched gives the core to whoever else the operating system has for it.
package sched
