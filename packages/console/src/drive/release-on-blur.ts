import { isTyping } from './focus.ts'

export interface ReleaseOnBlurOptions {
  /** Releases all inputs. */
  readonly release: () => void
  /** Runs when the user returns to the window: until then, gamepads may report another position than they have. */
  readonly onFocus: () => void
  /** Runs when the user leaves the page. */
  readonly onPageHide: () => void
  /** Runs when the browser restores the page from its back/forward cache. */
  readonly onPageShow: () => void
}

/** Releases the inputs on every event that can hide a keyup. @returns a function that removes the listeners */
export function releaseOnBlur({
  release,
  onFocus,
  onPageHide,
  onPageShow,
}: ReleaseOnBlurOptions): () => void {
  const listening = new AbortController()
  const options = { signal: listening.signal }
  window.addEventListener('blur', release, options)
  window.addEventListener('focus', onFocus, options)
  document.addEventListener('visibilitychange', () => document.hidden && release(), options)
  document.addEventListener('focusin', () => isTyping() && release(), options)
  window.addEventListener('pagehide', onPageHide, options)
  window.addEventListener('pageshow', ({ persisted }) => persisted && onPageShow(), options)
  return () => listening.abort()
}
