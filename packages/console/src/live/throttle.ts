/**
 * Returns a function that runs `work` at once, and then at most once per interval while it is called. The last call of
 * a burst is never lost. A burst of events would otherwise restart a query again and again, so that it never finishes.
 */
export function throttle(work: () => void, intervalMs: number): () => void {
  let isPending = false
  let timer: ReturnType<typeof setTimeout> | undefined
  const run = () => {
    isPending = false
    timer = setTimeout(() => {
      timer = undefined
      if (isPending) run()
    }, intervalMs)
    work()
  }
  return () => {
    if (timer === undefined) run()
    else isPending = true
  }
}
