import { isTyping } from './focus.ts'

export interface HandsOffParts {
  /** Nobody is at the wheel any more. */
  readonly letGo: () => void
  /** The page is being left: nothing of it may stay. */
  readonly leave: () => void
  /** The browser has brought the page back as it was. */
  readonly comeBack: () => void
}

/** Watches for everything that takes somebody's hands off the wheel without a key being let go. @returns what ends it */
export function watchHands({ letGo, leave, comeBack }: HandsOffParts): () => void {
  const listening = new AbortController()
  const options = { signal: listening.signal }
  window.addEventListener('blur', letGo, options)
  document.addEventListener('visibilitychange', () => document.hidden && letGo(), options)
  document.addEventListener('focusin', () => isTyping() && letGo(), options)
  window.addEventListener('pagehide', leave, options)
  window.addEventListener('pageshow', ({ persisted }) => persisted && comeBack(), options)
  return () => listening.abort()
}
