import { createPersisted } from '../base/persisted.ts'
import { createStore, type Store } from '../base/store.ts'

export const CHAT_ID = 'cockpit-chat'

/** A sheet that covers a part of the picture. The inputs are released while it is open. */
export type HudSheet = 'menu' | 'keys' | 'controls' | 'end'

/** In display order. */
export const DOCK_TABS = ['inputs', 'messages', 'log', 'values', 'episodes'] as const
export type DockTab = (typeof DOCK_TABS)[number]

/** The state of everything that lies on the picture. */
export type Hud = ReturnType<typeof createHud>

/** On a phone, the whole picture would be too small. The same as in the style sheets. */
const PHONE = '(aspect-ratio <= 3/4), (height <= 480px)'

/** @param options.hasInputs whether the robot declares inputs beyond driving, which the dock then shows where it has space */
export const createHud = ({ hasInputs = false } = {}) => ({
  /** Whether the instruments are hidden; the stop, the bar, calls and messages are not. */
  isBare: createStore(false),
  mainView: createStore<'camera' | 'map'>('camera'),
  /** Whether the picture fills its place and loses its edges, instead of being shown as a whole. */
  isFilled: createPersisted('wheelhouse-fill-picture', matchMedia(PHONE).matches, (text) => text === 'true'),
  isListening: createPersisted('wheelhouse-listen', false, (text) => text === 'true'),
  /** The tab of the open dock; empty while it is closed. */
  dock:
    hasInputs && !matchMedia(PHONE).matches
      ? createStore<DockTab | ''>('inputs')
      : createPersisted<DockTab | ''>(
          'wheelhouse-dock',
          '',
          (text) => DOCK_TABS.find((tab) => tab === text) ?? '',
        ),
  /** Whether the dock was opened for one message, and closes after it. */
  isForMessage: createStore(false),
  /** Whether the map on which goals are given is shown in place of the plate of what is nearby. */
  isGoalMap: createStore(false),
  sheet: createStore<HudSheet | undefined>(undefined),
})

export const toggle = (store: Store<boolean>): void => store.update((isOn) => !isOn)
