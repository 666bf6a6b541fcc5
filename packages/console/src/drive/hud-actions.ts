import { useWindowEvent } from '@mantine/hooks'
import type { SessionStatus } from '@wheelhouse/protocol'
import { useEffect, useState } from 'react'
import { flushSync } from 'react-dom'
import { isTyping, latinKey, leaveField } from '../base/keys.ts'
import { type EpisodeMarks, useEpisodeMarks } from '../episodes/episode-panel.tsx'
import { type SessionDetail, usePerforming, useSessionAction } from '../session/session-query.ts'
import { useSessionCameras } from '../video/use-cameras.ts'
import { CHAT_ID, type Hud, toggle } from './hud.ts'
import type { DrivePreferences } from './preferences.ts'
import { useFullScreen } from './window.ts'

interface Options {
  readonly hud: Hud
  readonly preferences: Pick<DrivePreferences, 'stepLimit'>
  readonly actions: Pick<DriveActions, 'pause' | 'resume'>
  /** Takes, asks for or returns control; undefined where it does not change hands. */
  readonly changeControl?: (() => void) | undefined
  /** Cancels the goal of the robot; undefined for a viewer. */
  readonly cancelGoal?: (() => unknown) | undefined
  readonly toggleFullScreen: () => void
  readonly nextCamera: () => void
  readonly episodes: Pick<EpisodeMarks, 'mark'>
}

const performers = {
  pause: ({ actions }) => actions.pause(),
  resume: ({ actions }) => actions.resume(),
  slower: ({ preferences }) => preferences.stepLimit(-1),
  faster: ({ preferences }) => preferences.stepLimit(1),
  fullScreen: ({ toggleFullScreen }) => toggleFullScreen(),
  overlay: ({ hud }) => toggle(hud.isBare),
  swap: ({ hud }) => hud.mainView.update((view) => (view === 'camera' ? 'map' : 'camera')),
  camera: ({ nextCamera }) => nextCamera(),
  listen: ({ hud }) => toggle(hud.isListening),
  control: ({ changeControl }) => changeControl?.(),
  goalMap: ({ hud }) => toggle(hud.isGoalMap),
  cancelGoal: ({ cancelGoal }) => cancelGoal?.(),
  values: ({ hud: { dock } }) => dock.update((open) => (open === 'values' ? '' : 'values')),
  dock: ({ hud: { dock } }) => dock.update((open) => (open === '' ? 'messages' : '')),
  menu: ({ hud }) => hud.sheet.set('menu'),
  chat: ({ hud }) => openChat(hud),
  keys: ({ hud }) => hud.sheet.set('keys'),
  episode: ({ episodes }) => episodes.mark('start'),
  episodeSuccess: ({ episodes }) => episodes.mark('success'),
  episodeFailure: ({ episodes }) => episodes.mark('failure'),
  episodeDiscard: ({ episodes }) => episodes.mark('discard'),
} satisfies Readonly<Record<string, (options: Options) => unknown>>

/** The action of a key that neither drives nor stops. */
export type HudAction = keyof typeof performers

interface PartsOptions
  extends Pick<Options, 'hud' | 'preferences' | 'actions' | 'changeControl' | 'cancelGoal'> {
  readonly part: 'control' | 'watch'
  /** Stable between renders. */
  readonly onEscape: () => void
}

/** Returns what the cockpit of an operator and that of a viewer share: cameras, episodes, and what keys and tools perform. */
export function useHudParts(session: SessionDetail, { part, onEscape, ...options }: PartsOptions) {
  const cameras = useSessionCameras(session, part)
  const episodes = useEpisodeMarks(session.id, session.robot_id)
  const toggleFullScreen = useFullScreen(onEscape)
  const all: Options = { ...options, episodes, toggleFullScreen, nextCamera: cameras.next }
  const perform = (action: HudAction) => performers[action](all)
  useWindowEvent('keydown', (event) => {
    const action = event.defaultPrevented ? undefined : hudActionOf(event)
    if (!action) return
    event.preventDefault()
    perform(action)
  })
  return { hud: options.hud, cameras, episodes, perform }
}

/** Opens the chat and focuses its field at once: the next key must be text, and not drive the robot. */
function openChat(hud: Hud): void {
  hud.isForMessage.set(hud.dock.get() === '')
  flushSync(() => {
    hud.dock.set('messages')
  })
  document.querySelector<HTMLElement>(`#${CHAT_ID} textarea`)?.focus()
}

/** Returns to driving after a message: the next key drives, and a dock that was opened for the message is closed. */
export function leaveChat(hud: Hud): void {
  leaveField()
  if (hud.isForMessage.get()) hud.dock.set('')
}

/** How long a wish to resume waits for the page to hear that the stop was cleared. */
const RESUME_WISH_MS = 2_000

/** The actions of the operator on the session, and the error of the last one. */
export type DriveActions = ReturnType<typeof useDriveActions>

export function useDriveActions(session: SessionDetail, status: SessionStatus) {
  const action = useSessionAction(session.id)
  const { stop, connected } = session.control
  const isPaused = status === 'PAUSED'
  const canResume = isPaused && stop === null && connected
  const isClearing = usePerforming(session.id, 'clear_stop')
  const [wishedAtMs, setWishedAtMs] = useState<number>()
  const { mutate } = action
  // After the next render, which knows the newest state of the session.
  useEffect(() => {
    if (wishedAtMs === undefined) return
    const isOver = !isClearing() && performance.now() - wishedAtMs > RESUME_WISH_MS
    if (!canResume && !isOver) return
    setWishedAtMs(undefined)
    if (!isOver) mutate('resume')
  })
  return {
    isPaused,
    canResume,
    isBusy: action.isPending,
    error: action.error ?? undefined,
    pause: () => {
      if (!isPaused) mutate('pause')
    },
    /** Resumes the session; while a stop is being cleared, or has been cleared by somebody else just now, after that. */
    resume: () => {
      if (isPaused) setWishedAtMs(performance.now())
    },
    end: () => action.mutateAsync('end'),
  }
}

/** By the character, wherever the layout has it. */
const BY_KEY: Readonly<Record<string, HudAction>> = {
  p: 'pause',
  r: 'resume',
  '[': 'slower',
  ']': 'faster',
  f: 'fullScreen',
  m: 'swap',
  v: 'camera',
  u: 'listen',
  t: 'control',
  g: 'goalMap',
  x: 'cancelGoal',
  i: 'values',
  l: 'dock',
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
  if (event.repeat || event.isComposing) return undefined
  const isOpen = document.querySelector('[role=dialog]') !== null
  // Also in a field of the dock, where it is no text.
  if ((event.ctrlKey || event.metaKey) && latinKey(event) === 'k') return isOpen ? undefined : 'menu'
  if (isTyping() || event.ctrlKey || event.metaKey || event.altKey) return undefined
  const action = BY_KEY[latinKey(event)] ?? BY_CODE[event.code]
  // R right after a stop was cleared is meant for the session, also while the dialog of the stop closes.
  if (isOpen) return action === 'resume' ? action : undefined
  if (event.key === 'Enter') return document.activeElement === document.body ? 'chat' : undefined
  return action
}
