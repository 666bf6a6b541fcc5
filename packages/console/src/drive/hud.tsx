import { createStore, type Store, useStore } from '../base/store.ts'
import { type EpisodeMarks, EpisodePanel } from '../episodes/episode-panel.tsx'

/** The id of the chat on the picture. */
export const CHAT_ID = 'cockpit-chat'

/** A sheet that covers a part of the picture. */
export type HudSheet = 'keys' | 'controls' | 'details'

/** The state of everything that lies on the picture. */
export interface Hud {
  /** Whether the instruments are hidden; the stop, the state and notices are not. */
  readonly isBare: Store<boolean>
  /** The view that fills the window. */
  readonly mainView: Store<'camera' | 'map'>
  readonly isChatOpen: Store<boolean>
  /** Whether all values of the telemetry are shown. */
  readonly areValuesShown: Store<boolean>
  /** Whether the inputs that the robot declares beyond driving are shown. */
  readonly areInputsShown: Store<boolean>
  /** Whether the panel that marks episodes is shown. */
  readonly areEpisodesShown: Store<boolean>
  readonly sheet: Store<HudSheet | undefined>
}

/** Windows with space for panels beside the picture. */
const ROOMY = '(width >= 62em) and (height >= 40em)'

export function createHud(): Hud {
  const isRoomy = matchMedia(ROOMY).matches
  return {
    isBare: createStore(false),
    mainView: createStore<'camera' | 'map'>('camera'),
    isChatOpen: createStore(isRoomy),
    areValuesShown: createStore(false),
    areInputsShown: createStore(isRoomy),
    areEpisodesShown: createStore(false),
    sheet: createStore<HudSheet | undefined>(undefined),
  }
}

/** Switches a value between on and off. */
export const toggle = (store: Store<boolean>): void => store.update((isOn) => !isOn)

/** Shows the panel of episodes on the picture: while one runs, and when it is opened. */
export function EpisodeOverlay({ marks, hud }: { marks: EpisodeMarks; hud: Hud }) {
  const isOpen = useStore(hud.areEpisodesShown)
  return isOpen || marks.running ? <EpisodePanel marks={marks} isOnPicture /> : null
}
