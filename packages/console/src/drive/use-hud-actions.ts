import { useCallback, useEffect, useRef } from 'react'
import { flushSync } from 'react-dom'
import type { EpisodeMarks } from '../recording/episode-panel.tsx'
import type { DriveActions } from './drive-actions.ts'
import { CHAT_ID, type Hud, toggle } from './hud.ts'
import type { HudAction } from './hud-keys.ts'
import type { DrivePreferences } from './preferences.ts'

interface Options {
  readonly hud: Hud
  readonly preferences: Pick<DrivePreferences, 'stepLimit'>
  readonly actions: Pick<DriveActions, 'pause' | 'resume'>
  readonly toggleFullScreen: () => void
  readonly nextCamera: () => void
  readonly episodes: Pick<EpisodeMarks, 'mark'>
}

/** Returns a function that performs the actions of keys and tools, stable between renders. */
export function useHudActions(options: Options): (action: HudAction) => void {
  const latest = useRef(options)
  useEffect(() => {
    latest.current = options
  })
  return useCallback((action) => {
    const { hud, preferences, actions, toggleFullScreen, nextCamera, episodes } = latest.current
    const performed: Record<HudAction, () => void> = {
      pause: actions.pause,
      resume: actions.resume,
      slower: () => preferences.stepLimit(-1),
      faster: () => preferences.stepLimit(1),
      fullScreen: toggleFullScreen,
      overlay: () => toggle(hud.isBare),
      swap: () => hud.mainView.update((view) => (view === 'camera' ? 'map' : 'camera')),
      camera: nextCamera,
      values: () => toggle(hud.areValuesShown),
      chat: () => openChat(hud),
      keys: () => hud.sheet.set('keys'),
      episode: () => {
        hud.areEpisodesShown.set(true)
        episodes.mark('start')
      },
      episodeSuccess: () => episodes.mark('success'),
      episodeFailure: () => episodes.mark('failure'),
      episodeDiscard: () => episodes.mark('discard'),
    }
    performed[action]()
  }, [])
}

/** Opens the chat and focuses its field at once: the next key must be text, and not drive the robot. */
function openChat(hud: Hud): void {
  flushSync(() => {
    hud.isChatOpen.set(true)
    hud.isBare.set(false)
  })
  document.querySelector<HTMLElement>(`#${CHAT_ID} textarea`)?.focus()
}
