const PARENT_CHECK_MS = 500

/** Read when this module is loaded: the parent may end while the platform starts. */
const parent = process.ppid

/**
 * Calls `then` when the parent process has ended. npm passes SIGTERM only to the shell between npm and this process, and that
 * shell exits without passing it on; a killed npm passes on nothing.
 */
export function whenOrphaned(then: () => void): void {
  const timer = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(timer)
    then()
  }, PARENT_CHECK_MS)
  timer.unref()
}
