// An emulated hiprtc: compiles a HIP kernel for the host, with the C++ compiler $CXX, else c++, and kernels.h before it, whose path is HEADER.
// The code is the bytes of a shared object, behind their number.

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <string>
#include <unistd.h>

namespace {

enum Result { SUCCESS = 0, INVALID_INPUT = 3, INVALID_PROGRAM = 4, INVALID_OPTION = 5, COMPILATION = 6 };

struct Program {
    std::string text, name, log, code;
};

std::string contents(const std::string &path)
{
    std::ifstream file(path, std::ios::binary);
    return { std::istreambuf_iterator<char>(file), {} };
}

// Memory that is shared and has no size is a pointer for the host's compiler.
std::string for_host(const Program &program)
{
    const std::regex dynamic(R"(extern __shared__ (\w+) (\w+)\[\];)");
    const std::string text = std::regex_replace(program.text, dynamic, "$1 *const $2 = ($1 *)emulation->dynamic_shared;");
    return "#line 1 \"" + program.name + "\"\n" + text + "\n";
}

// Its kernels, once macros are expanded.
std::set<std::string> kernels_of(const std::string &expanded)
{
    const std::regex kernel(R"(__global__\s+void\s+(\w+)\s*\()");
    std::set<std::string> kernels;
    for (std::sregex_iterator at(expanded.begin(), expanded.end(), kernel), end; at != end; ++at) kernels.insert((*at)[1]);
    return kernels;
}

Result compile(Program &program, const std::string &flags)
{
    char folder[] = "/tmp/lbmc-hip-XXXXXX";
    if (!mkdtemp(folder)) return INVALID_INPUT;
    const std::string base = folder, text = for_host(program);
    const char *named = std::getenv("CXX");
    const std::string compiler = std::string(named ? named : "c++") + " -std=c++17 -O1 -w -shared -fPIC -fno-math-errno" + flags
        + " -include '" HEADER "' 2>" + base + "/log ";
    const auto with_compiler = [&](const std::string &arguments) { return std::system((compiler + arguments).c_str()) == 0; };

    std::ofstream(base + "/kernel.cpp") << text;
    bool compiled = with_compiler("-E -P -o " + base + "/expanded.cpp " + base + "/kernel.cpp");
    if (compiled) {
        std::ofstream all(base + "/kernel.cpp");
        all << text << "MODULE\n";
        for (const std::string &name : kernels_of(contents(base + "/expanded.cpp"))) all << "PACKED(" << name << ")\n";
        all.close();
        compiled = with_compiler("-D__global__= -o " + base + "/kernel.so " + base + "/kernel.cpp");
    }
    program.log = contents(base + "/log");
    const std::string bytes = contents(base + "/kernel.so");
    const std::uint64_t size = bytes.size();
    program.code = std::string(reinterpret_cast<const char *>(&size), sizeof size) + bytes;
    for (const char *file : { "/kernel.cpp", "/expanded.cpp", "/kernel.so", "/log" }) unlink((base + file).c_str());
    rmdir(folder);
    return compiled ? SUCCESS : COMPILATION;
}

}  // namespace

extern "C" {

const char *hiprtcGetErrorString(int error)
{
    return error == SUCCESS ? "HIPRTC_SUCCESS" : error == COMPILATION ? "HIPRTC_ERROR_COMPILATION" : "HIPRTC_ERROR";
}

int hiprtcVersion(int *major, int *minor)
{
    *major = 0, *minor = 0;
    return SUCCESS;
}

int hiprtcCreateProgram(Program **program, const char *text, const char *name, int headers, const char **, const char **)
{
    if (headers != 0) return INVALID_INPUT;
    *program = new Program { text, name, "", "" };
    return SUCCESS;
}

int hiprtcCompileProgram(Program *program, int count, const char **options)
{
    std::string flags;
    bool has_architecture = false;
    for (int at = 0; at < count; ++at) {
        const std::string option = options[at];
        if (option.rfind("-ffp-contract=", 0) == 0) {
            flags += " " + option;
        } else if (option == "--offload-arch=gfx90a:sramecc+:xnack-") {
            has_architecture = true;
        } else if (option != "-std=c++17" && option != "-O3") {
            program->log = "an option that the emulator does not know: " + option;
            return INVALID_OPTION;
        }
    }
    if (!has_architecture) return INVALID_OPTION;
    return compile(*program, flags);
}

int hiprtcGetProgramLogSize(Program *program, std::size_t *size)
{
    *size = program->log.size() + 1;
    return SUCCESS;
}

int hiprtcGetProgramLog(Program *program, char *log)
{
    std::memcpy(log, program->log.c_str(), program->log.size() + 1);
    return SUCCESS;
}

int hiprtcGetCodeSize(Program *program, std::size_t *size)
{
    *size = program->code.size();
    return SUCCESS;
}

int hiprtcGetCode(Program *program, char *code)
{
    std::memcpy(code, program->code.data(), program->code.size());
    return SUCCESS;
}

int hiprtcDestroyProgram(Program **program)
{
    delete *program;
    *program = nullptr;
    return SUCCESS;
}

}  // extern "C"
