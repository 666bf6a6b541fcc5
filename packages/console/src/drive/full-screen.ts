import { useFullscreenDocument } from '@mantine/hooks'
import { useCallback, useEffect, useRef } from 'react'

/** The keyboard of browsers that can pass Escape to a page in full screen. */
interface LockableKeyboard {
  lock?(keys: readonly string[]): Promise<void>
}

/**
 * Returns whether the page fills the screen, and a function that changes it. Browsers leave full screen with Escape, which
 * is a stop key: `onEscape` runs then, also in browsers that do not pass the key to the page.
 * @param onEscape stable between renders
 */
export function useFullScreen(onEscape: () => void): { isFull: boolean; toggle: () => void } {
  const { fullscreen: isFull, toggle: change } = useFullscreenDocument()
  const isExpected = useRef(false)
  const wasFull = useRef(false)
  useEffect(() => {
    if (isFull) {
      const { keyboard } = navigator as Navigator & { keyboard?: LockableKeyboard }
      keyboard?.lock?.(['Escape']).catch(() => undefined)
    } else {
      if (wasFull.current && !isExpected.current) onEscape()
      // Cleared only here: the key may be pressed again before React has seen that full screen began.
      isExpected.current = false
    }
    wasFull.current = isFull
  }, [isFull, onEscape])
  const toggle = useCallback(() => {
    isExpected.current = document.fullscreenElement !== null
    change().catch(() => undefined)
  }, [change])
  return { isFull, toggle }
}
