//! Attributes of an event, which select the records of the kernel.
//!
//! Events belong to the thread that starts the program, and are disabled until it executes. The
//! child inherits them in the fork, so nothing is missed, the child is not stopped before its first
//! instruction, and no `pre_exec` is needed.

use perf_event_open_sys::bindings::{self as sys, perf_event_attr};

use crate::options::{Options, Stacks};

/// Numbers of the registers that unwinding starts from, in the order of the kernel's record.
#[cfg(target_arch = "x86_64")]
pub(crate) const REGISTERS: [u64; 3] = [6, 7, 8]; // bp, sp, ip
/// Numbers of the registers that unwinding starts from, in the order of the kernel's record.
#[cfg(target_arch = "aarch64")]
pub(crate) const REGISTERS: [u64; 4] = [29, 30, 31, 32]; // fp, lr, sp, pc

/// `CLOCK_MONOTONIC`: the clock of the samples' times, and of the calibration of recordings.
const MONOTONIC: i32 = 1;

/// Moment at which the events begin to count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Begin {
    /// The events begin when the thread's child executes its program.
    AtExec,
    /// The events begin at once.
    Now,
}

/// Returns the attributes of the event on each processor. The event is the processor's software
/// clock, every `1 / rate` seconds that a thread of the target runs there.
pub fn attributes(options: &Options, begin: Begin, with_kernel: bool) -> perf_event_attr {
    let mut attr = perf_event_attr {
        size: size_of::<perf_event_attr>() as u32,
        type_: sys::PERF_TYPE_SOFTWARE,
        config: u64::from(sys::PERF_COUNT_SW_CPU_CLOCK),
        clockid: MONOTONIC,
        ..perf_event_attr::default()
    };
    attr.__bindgen_anon_1.sample_period = options.period_ns();
    let mut sampled = sys::PERF_SAMPLE_IP | sys::PERF_SAMPLE_TID | sys::PERF_SAMPLE_TIME;
    match options.stacks {
        Stacks::Dwarf => {
            sampled |= sys::PERF_SAMPLE_CALLCHAIN
                | sys::PERF_SAMPLE_REGS_USER
                | sys::PERF_SAMPLE_STACK_USER;
            attr.sample_regs_user = REGISTERS.iter().fold(0, |mask, register| mask | 1 << register);
            attr.sample_stack_user = options.stack_bytes;
            attr.set_exclude_callchain_user(1);
        }
        Stacks::FramePointers => sampled |= sys::PERF_SAMPLE_CALLCHAIN,
        Stacks::None => {}
    }
    attr.sample_type = u64::from(sampled);
    attr.set_disabled(u64::from(begin == Begin::AtExec));
    attr.set_enable_on_exec(u64::from(begin == Begin::AtExec));
    // New threads and child processes are sampled from their first instruction.
    attr.set_inherit(1);
    attr.set_exclude_kernel(u64::from(!with_kernel));
    attr.set_exclude_hv(1);
    attr.set_use_clockid(1);
    // Mappings of code are needed for names, and mappings of data show recordings.
    attr.set_mmap(1);
    attr.set_mmap2(1);
    attr.set_mmap_data(1);
    attr.set_comm(1);
    attr.set_comm_exec(1);
    attr.set_task(1);
    attr.set_sample_id_all(1);
    attr
}
