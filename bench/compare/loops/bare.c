// A program of exactly 2 * TURNS + 4 instructions: no library, nothing before its loop. It is made by
//
//   cc -nostdlib -static -DTURNS=1000000 bare.c
#define TEXT(value) #value
#define NUMBER(value) TEXT(value)

#if defined(__x86_64__)
__asm__(".globl _start\n"
        "_start: mov $" NUMBER(TURNS) ", %rcx\n"
        "1: dec %rcx\n"
        "jnz 1b\n"
        "mov $60, %eax\n"
        "xor %edi, %edi\n"
        "syscall\n");
#elif defined(__aarch64__)
__asm__(".globl _start\n"
        "_start: ldr x1, =" NUMBER(TURNS) "\n"
        "1: subs x1, x1, #1\n"
        "b.ne 1b\n"
        "mov x8, #93\n"
        "mov x0, #0\n"
        "svc #0\n");
#else
#error "no loop is known for this processor"
#endif
