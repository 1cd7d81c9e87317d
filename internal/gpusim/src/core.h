// The core of the simulator: devices, memory, streams, events, modules. The
// libraries with real names (cuda.cpp, hip.cpp, ...) are thin wrappers over it.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

struct gpusim_block; // runtime.h
struct gpusim_runtime;

namespace sim {

// Status has the numbers of CUresult, which are those of hipError_t too.
enum Status : int {
	ok = 0,
	invalidValue = 1,
	outOfMemory = 2,
	notInitialized = 3,
	noDevice = 100,
	invalidDevice = 101,
	invalidImage = 200,
	invalidContext = 201,
	operatingSystem = 304,
	invalidHandle = 400,
	notFound = 500,
	notReady = 600,
	illegalAddress = 700,
	peerAlreadyEnabled = 704,
	contextDestroyed = 709,
	hostAlreadyRegistered = 712,
	hostNotRegistered = 713,
	launchFailed = 719,
	notSupported = 801,
	unknown = 999,
};

struct Stream;
struct Context;
using StreamRef = std::shared_ptr<Stream>;

// A Work runs on the thread of a stream. One that is not essential is dropped
// once the context has failed, as a real device drops it.
struct Work {
	std::function<void()> run;
	bool essential = false;
	std::vector<std::pair<StreamRef, uint64_t>> after; // what must be complete first
};

// A Stream is a queue with a thread of its own, so that nothing is in order
// unless an event or the host makes it so.
struct Stream : std::enable_shared_from_this<Stream> {
	Context* ctx;
	bool blocking; // ordered with the default stream, as all are but non-blocking ones
	std::mutex mu;
	std::condition_variable cv;
	std::deque<Work> queue;
	std::atomic<uint64_t> submitted{0}, completed{0};
	bool closed = false;

	Stream(Context* c, bool b) : ctx(c), blocking(b) {}
	uint64_t submit(std::function<void()> run, bool essential = false);
	void wait(uint64_t ticket);
	void wait() { wait(submitted); }
	bool idle() const { return completed == submitted; }
	void start();
	void close(); // after the work that is queued
	void loop();
};

// A Context is the primary context of one device: there are no others.
struct Context {
	int device = 0;
	int retained = 0;
	std::atomic<int> sticky{0}; // the failure that every later call returns
	std::atomic<size_t> used{0};
	std::mutex mu;
	std::vector<std::weak_ptr<Stream>> streams;
	StreamRef standard; // the default stream
	std::vector<int> peers;

	StreamRef makeStream(bool blocking);
	std::vector<StreamRef> allStreams();
	void wait(); // until all streams are idle
	void fail(int status, const std::string& why);
};

// A Recording is one use of an event: complete once its stream gets there.
struct Recording {
	std::mutex mu;
	std::condition_variable cv;
	bool complete = false;
	double when = 0; // milliseconds

	void finish();
	bool done();
	void wait();
};
using RecordingRef = std::shared_ptr<Recording>;

// An Event knows its last recording, which is the one that a wait is for.
struct Event {
	Context* ctx;
	bool timing;
	std::mutex mu;
	RecordingRef last; // null until the first

	Event(Context* c, bool t) : ctx(c), timing(t) {}
	RecordingRef recording();
};
using EventRef = std::shared_ptr<Event>;

struct Module;

// A Function is a kernel of a module.
struct Function {
	std::string name;
	void (*entry)(const void* args, const gpusim_block* b);
	size_t argSize;
	Module* module;
	int maxDynamic = 48 << 10;
};

struct Module {
	Context* ctx;
	void* handle;
	int warp;
	std::mutex mu;
	std::map<std::string, std::unique_ptr<Function>> functions;
	~Module();
};
using ModuleRef = std::shared_ptr<Module>;

struct Dim {
	unsigned x, y, z;
};

// config.cpp
std::string setting(const char* key, const char* otherwise);
int deviceCount();
size_t deviceMemory();
int injected(const std::string& kernel);
void passHold(); // waits while a test holds all streams
void note(const std::string& message); // for gpusim_message and, on failures, stderr
const std::string& folder();           // where this library lies

// context.cpp
Status init();
bool ready(); // init has been called
Context* primary(int device); // null if there is no such device
Context* current();
void setCurrent(Context*);
Status enter(Context** c); // the current context, or why a call must fail
Status retain(int device, Context** c);
Status release(int device);

// stream.cpp
Status findStream(Context* c, void* handle, StreamRef* s); // null handle: the default stream
Status createStream(Context* c, bool blocking, void** handle);
Status destroyStream(void* handle);
void dropStreams(Context* c); // those of a context that goes away
EventRef findEvent(void* handle);
Status createEvent(Context* c, bool timing, void** handle);
Status destroyEvent(void* handle);
Status record(const EventRef& e, const StreamRef& s);
Status waitEvent(const StreamRef& s, const EventRef& e);
Status elapsed(const EventRef& a, const EventRef& b, float* ms);

// memory.cpp
Status allocate(Context* c, size_t size, void** p);
Status release(Context* c, void* p, const StreamRef& s); // in stream order, or at once if s is null
Status allocateHost(Context* c, size_t size, void** p);
Status freeHost(void* p);
Status registerHost(Context* c, void* p, size_t size);
Status unregisterHost(void* p);
bool isDevice(const void* p, size_t size); // device memory or pinned host memory
bool isPinned(const void* p, size_t size);
void releaseAll(Context* c);
Status copyIn(void* dst, const void* host, size_t n, const StreamRef& s);
Status copyOut(void* host, const void* src, size_t n, const StreamRef& s);
Status copy(void* dst, const void* src, size_t n, const StreamRef& s);
Status fill(void* dst, uint32_t value, size_t width, size_t n, const StreamRef& s);

// module.cpp
Status loadModule(Context* c, const void* image, int warp, void** handle);
Status unloadModule(void* handle);
void dropModules(Context* c);
Status getFunction(void* module, const char* name, void** handle);
Function* findFunction(void* handle);
Status launch(Context* c, Function* f, Dim grid, Dim block, unsigned dynamic, const StreamRef& s, void** params, void** extra);
// guarded runs work and returns the failure of a kernel in it, or a fault of memory.
int guarded(const std::function<void()>& work, std::string* why);
[[noreturn]] void failKernel(int status, const std::string& why);
void catchFaults();

// fiber.cpp
struct Grid {
	Dim grid, block;
	unsigned dynamic;
	int warp;
};
void runGrid(const Function* f, const void* args, const Grid& g);
const gpusim_runtime* runtime();

// compile.cpp
struct Header {
	std::string name, text;
};
// compile returns an image for loadModule; an empty one means that log says why not.
std::string compile(const std::string& name, const std::string& source, const std::vector<Header>& headers,
                    const std::vector<std::string>& options, bool hip, std::string* log);
const char* payload(const void* image, size_t* size); // null if it is no image of compile

} // namespace sim
