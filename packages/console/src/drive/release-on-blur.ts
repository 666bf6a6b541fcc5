import { isTyping } from './focus.ts'

export interface ReleaseOnBlurOptions {
  /** Nobody is at the wheel any more. */
  readonly release: () => void
  /** The page is being left: nothing of it may stay. */
  readonly onPageHide: () => void
  /** The browser has brought the page back as it was. */
  readonly onPageShow: () => void
}

/** Watches for everything that takes somebody's hands off the wheel without a key being let go. @returns what ends it */
export function releaseOnBlur({ release, onPageHide, onPageShow }: ReleaseOnBlurOptions): () => void {
  const listening = new AbortController()
  const options = { signal: listening.signal }
  window.addEventListener('blur', release, options)
  document.addEventListener('visibilitychange', () => document.hidden && release(), options)
  document.addEventListener('focusin', () => isTyping() && release(), options)
  window.addEventListener('pagehide', onPageHide, options)
  window.addEventListener('pageshow', ({ persisted }) => persisted && onPageShow(), options)
  return () => listening.abort()
}
