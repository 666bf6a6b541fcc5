import { useEffect } from 'react'

/** Keeps the screen on while the page is visible, if the browser can. */
export function useWakeLock(isNeeded: boolean): void {
  useEffect(() => {
    if (!isNeeded || !('wakeLock' in navigator)) return
    let lock: WakeLockSentinel | undefined
    let isOver = false
    const release = (held: WakeLockSentinel | undefined) => void held?.release().catch(() => undefined)
    const acquire = () => {
      if (document.hidden || lock?.released === false) return
      navigator.wakeLock.request('screen').then(
        (granted) => {
          if (isOver) release(granted)
          else lock = granted
        },
        // Refused, for example with an empty battery: the screen may go dark.
        () => undefined,
      )
    }
    // The browser releases the lock of a hidden page.
    document.addEventListener('visibilitychange', acquire)
    acquire()
    return () => {
      isOver = true
      document.removeEventListener('visibilitychange', acquire)
      release(lock)
    }
  }, [isNeeded])
}
