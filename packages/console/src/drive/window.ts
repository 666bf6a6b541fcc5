import { useFullscreenDocument } from '@mantine/hooks'
import { useEffect, useRef } from 'react'

/** The keyboard of browsers that can pass Escape to a page in full screen. */
interface LockableKeyboard {
  lock?(keys: readonly string[]): Promise<void>
}

/**
 * Returns a function that fills the screen with the page, or ends that. Browsers leave full screen with Escape, which is a
 * stop key: `onEscape` runs then, also in browsers that do not pass the key to the page.
 * @param onEscape stable between renders
 */
export function useFullScreen(onEscape: () => void): () => void {
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
  return () => {
    isExpected.current = document.fullscreenElement !== null
    change().catch(() => undefined)
  }
}

/** Frames per second of a canvas in a floating window. */
const CANVAS_HZ = 30

export const canFloat = (): boolean => document.pictureInPictureEnabled === true

/**
 * Shows the picture below an element in a floating window, which stays above all others, or ends that. Does nothing for a
 * plain image, which cannot float.
 */
export async function toggleFloating(element: HTMLElement): Promise<void> {
  if (document.pictureInPictureElement) return await document.exitPictureInPicture()
  const video = element.querySelector('video') ?? (await videoOf(element.querySelector('canvas[role=img]')))
  await video?.requestPictureInPicture()
}

/** Returns a playing video of a canvas. It ends with its window. */
async function videoOf(canvas: HTMLCanvasElement | null): Promise<HTMLVideoElement | undefined> {
  if (!canvas) return undefined
  const video = document.createElement('video')
  const stream = canvas.captureStream(CANVAS_HZ)
  video.muted = true
  video.srcObject = stream
  video.addEventListener('leavepictureinpicture', () => {
    for (const track of stream.getTracks()) track.stop()
    video.srcObject = null
  })
  await video.play()
  return video
}

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

/**
 * Lets the page fill the screen of a phone up to its rounded corners and its notch while the component is mounted. The
 * layout keeps its controls within the safe area.
 */
export function useSafeArea(): void {
  useEffect(() => {
    const viewport = document.querySelector<HTMLMetaElement>('meta[name=viewport]')
    const before = viewport?.content
    if (!viewport || before === undefined) return
    viewport.content = `${before}, viewport-fit=cover`
    return () => {
      viewport.content = before
    }
  }, [])
}
