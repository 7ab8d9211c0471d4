#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Runs inside the guest, as root, started by scripts/run-vng.sh:
#
#	guest-run.sh JOB_DIRECTORY
#
# JOB_DIRECTORY/job is a shell fragment that says what to do (token, mode,
# exported variables, sysctls, kernel options, command). The first line printed
# here says that the guest is up, "mm-cache-guest-begin TOKEN"; the last one is the
# proof that it lived to the end, "mm-cache-guest-end TOKEN CODE".

job=${1:?usage: guest-run.sh JOB_DIRECTORY}

token='' mode='' install='' command=() programs=() workload=() sysctls=() kernel_options=()
# shellcheck disable=SC1091 # written by run-vng.sh
. "$job/job" || {
	echo "guest-run.sh: cannot read $job/job inside the guest" >&2
	exit 125
}

echo "mm-cache-guest-begin $token"

export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin

# The scratch disk is known by its serial number, whatever its name became.
scratch_disk() {
	local serial

	for serial in /sys/block/vd*/serial; do
		if [ "$(cat "$serial" 2>/dev/null)" = mm-cache-scratch ]; then
			serial=${serial%/serial}
			echo "/dev/${serial##*/}"
			return 0
		fi
	done
	return 1
}

modprobe -q virtio_blk 2>/dev/null
for _ in 1 2 3 4 5 6 7 8 9 10; do
	MM_CACHE_DEV=$(scratch_disk) && [ -b "$MM_CACHE_DEV" ] && break
	sleep 0.5
done
if [ -b "$MM_CACHE_DEV" ]; then
	export MM_CACHE_DEV
else
	echo "guest-run.sh: no scratch disk: this kernel lacks virtio-blk (CONFIG_VIRTIO_BLK)" >&2
	unset MM_CACHE_DEV
fi

# Virtme-ng has it name the port of the guest, past any pipe; the kernel's runner
# opens it anew.
ln -sf /proc/self/fd/1 /dev/stdout

# A setting that did not take effect would make what is measured a lie.
set_sysctls() {
	local setting name value path now

	for setting in "${sysctls[@]}"; do
		name=${setting%%=*}
		value=${setting#*=}
		path=/proc/sys/${name//.//}
		if [ ! -e "$path" ]; then
			echo "guest-run.sh: sysctl $name: this kernel has none of that name"
			return 1
		fi
		if ! echo "$value" >"$path" || ! now=$(xargs <"$path"); then
			echo "guest-run.sh: sysctl $name: cannot be set to $value and read back"
			return 1
		fi
		if [ "$now" != "$(xargs <<<"$value")" ]; then
			echo "guest-run.sh: sysctl $name: is $now after $value was written"
			return 1
		fi
		echo "# guest-run.sh: sysctl $name is $now"
	done
}

# The kernel lists those that it has no use for, unless a module's.
check_kernel_options() {
	local option unknown

	unknown=$(dmesg | sed -n 's/.*Unknown kernel command line parameters "\(.*\)", will be passed.*/\1/p')
	for option in "${kernel_options[@]}"; do
		if [[ " $(cat /proc/cmdline) " != *" $option "* ]]; then
			echo "guest-run.sh: kernel option $option: is not in /proc/cmdline"
			return 1
		fi
		if [[ " $unknown " == *" $option "* ]]; then
			echo "guest-run.sh: kernel option $option: this kernel does not know it"
			return 1
		fi
		echo "# guest-run.sh: booted with $option"
	done
}

# After the suite all is as it was before it.
machine_state() {
	"${BASH_SOURCE[0]%/*}/machine-state.sh" --mark "CACHE_CHECK=$token" "$@" /dev/shm
}

# Runs "$@", whose end is no failure: of all that it found wrong, its output tells.
watched() {
	machine_state >/run/state.before
	# run_kselftest.sh loses nested lines when its output is a file: pipe it.
	env "CACHE_CHECK=$token" "$@" 2>&1 | cat
	if ! machine_state --since /run/state.before >/run/state.left; then
		sed 's/^/# the suite left this machine otherwise; /' /run/state.left
		return 3
	fi
}

run_suite() {
	local program selection=()

	for program in "${programs[@]}"; do
		selection+=(-t "mm-cache:$program")
	done
	[ ${#selection[@]} -gt 0 ] || selection=(-c mm-cache)
	cd "$install" || return 125
	watched ./run_kselftest.sh "${selection[@]}"
}

# Its database lies on the scratch disk, which nobody else uses.
run_workload() {
	local dir=/run/mm-cache-disk

	mkdir $dir && mount -o noatime "$MM_CACHE_DEV" $dir || return 125
	echo "${MM_CACHE_READ_AHEAD_KB:-128}" >"/sys/block/${MM_CACHE_DEV##*/}/queue/read_ahead_kb" ||
		return 125
	unset MM_CACHE_DEV MM_CACHE_READ_AHEAD_KB
	export MM_CACHE_DIR=$dir
	watched "${workload[@]}" --database=$dir/database
}

{
	if ! set_sysctls || ! check_kernel_options; then
		(exit 125)
	elif [ "$mode" = 'command' ]; then
		"${command[@]}"
	elif [ "$mode" = workload ]; then
		run_workload
	else
		run_suite
	fi
} 2>&1
code=$?
sync
echo "mm-cache-guest-end $token $code"
exit $code
