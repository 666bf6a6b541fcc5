import { useEffect } from 'react'
import { isTyping, latinKey } from '../ui/keys.ts'

/** The action of a key that neither drives nor stops. */
export type HudAction =
  | 'pause'
  | 'resume'
  | 'slower'
  | 'faster'
  | 'fullScreen'
  | 'overlay'
  | 'swap'
  | 'camera'
  | 'values'
  | 'chat'
  | 'keys'
  | 'episode'
  | 'episodeSuccess'
  | 'episodeFailure'
  | 'episodeDiscard'

/** By the character, wherever the layout has it. */
const BY_KEY: Readonly<Record<string, HudAction>> = {
  p: 'pause',
  r: 'resume',
  '[': 'slower',
  ']': 'faster',
  f: 'fullScreen',
  m: 'swap',
  v: 'camera',
  t: 'values',
  '?': 'keys',
  e: 'episode',
  y: 'episodeSuccess',
  n: 'episodeFailure',
  backspace: 'episodeDiscard',
}
/** By the physical position, for characters that some layouts need a modifier for. */
const BY_CODE: Readonly<Record<string, HudAction>> = {
  BracketLeft: 'slower',
  BracketRight: 'faster',
  Backquote: 'overlay',
}

/** Returns the action of a key press; undefined for other keys, and while the keys belong to a field or a dialog. */
function hudActionOf(event: KeyboardEvent): HudAction | undefined {
  if (event.repeat || event.isComposing || isTyping() || event.ctrlKey || event.metaKey || event.altKey)
    return undefined
  const action = BY_KEY[latinKey(event)] ?? BY_CODE[event.code]
  // R right after a stop was cleared is meant for the session, also while the dialog of the stop closes.
  if (document.querySelector('[role=dialog]') !== null) return action === 'resume' ? action : undefined
  if (event.key === 'Enter') return document.activeElement === document.body ? 'chat' : undefined
  return action
}

/** Performs actions by key while the component is mounted. @param perform stable between renders */
export function useHudKeys(perform: (action: HudAction) => void): void {
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      const action = event.defaultPrevented ? undefined : hudActionOf(event)
      if (!action) return
      event.preventDefault()
      perform(action)
    }
    window.addEventListener('keydown', onKeyDown)
    return () => window.removeEventListener('keydown', onKeyDown)
  }, [perform])
}
