// Devices and their primary contexts.
#include "core.h"

#include <cstdio>

namespace sim {

static const int maxDevices = 64;
static std::atomic<bool> initialised{false};
static thread_local Context* now = nullptr;

static Context* contexts() {
	static Context* all = [] {
		auto* c = new Context[maxDevices];
		for (int i = 0; i < maxDevices; i++) c[i].device = i;
		return c;
	}();
	return all;
}

Status init() {
	if (deviceCount() == 0) return noDevice;
	catchFaults();
	initialised = true;
	return ok;
}

bool ready() { return initialised; }

Context* primary(int device) {
	return device >= 0 && device < deviceCount() && device < maxDevices ? &contexts()[device] : nullptr;
}

Context* current() { return now; }
void setCurrent(Context* c) { now = c; }

Status enter(Context** c) {
	if (!initialised) return notInitialized;
	if (!now) return invalidContext;
	if (now->retained == 0) return contextDestroyed;
	*c = now;
	return Status(now->sticky.load());
}

Status retain(int device, Context** c) {
	if (!initialised) return notInitialized;
	Context* p = primary(device);
	if (!p) return invalidDevice;
	std::unique_lock<std::mutex> l(p->mu);
	if (p->retained++ == 0) {
		l.unlock();
		auto s = p->makeStream(true);
		l.lock();
		p->standard = s;
	}
	*c = p;
	return ok;
}

Status release(int device) {
	if (!initialised) return notInitialized;
	Context* p = primary(device);
	if (!p) return invalidDevice;
	{
		std::lock_guard<std::mutex> l(p->mu);
		if (p->retained == 0) return invalidContext;
		if (--p->retained > 0) return ok;
	}
	p->wait();
	dropStreams(p);
	dropModules(p);
	releaseAll(p);
	p->peers.clear();
	p->sticky = 0;
	return ok;
}

StreamRef Context::makeStream(bool blocking) {
	auto s = std::make_shared<Stream>(this, blocking);
	{
		std::lock_guard<std::mutex> l(mu);
		streams.push_back(s);
	}
	s->start();
	return s;
}

std::vector<StreamRef> Context::allStreams() {
	std::lock_guard<std::mutex> l(mu);
	std::vector<StreamRef> all;
	size_t kept = 0;
	for (auto& w : streams) {
		if (auto s = w.lock()) {
			streams[kept++] = w;
			all.push_back(s);
		}
	}
	streams.resize(kept);
	return all;
}

void Context::wait() {
	for (auto& s : allStreams()) s->wait();
}

void Context::fail(int status, const std::string& why) {
	int none = 0;
	if (!sticky.compare_exchange_strong(none, status)) return;
	std::string text = "gpusim: device " + std::to_string(device) + ": error " + std::to_string(status) + ": " + why;
	note(text);
	fprintf(stderr, "%s\n", text.c_str());
}

} // namespace sim
