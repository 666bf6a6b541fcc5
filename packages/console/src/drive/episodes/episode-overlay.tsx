import { useStore } from '../../ui/store.ts'
import type { Hud } from '../hud.ts'
import { EpisodePanel } from './episode-panel.tsx'
import type { EpisodeMarks } from './use-episode-marks.ts'

/** Shows the panel of episodes on the picture: while one runs, and when it is opened. */
export function EpisodeOverlay({ marks, hud }: { marks: EpisodeMarks; hud: Hud }) {
  const isOpen = useStore(hud.areEpisodesShown)
  return isOpen || marks.running ? <EpisodePanel marks={marks} isOnPicture /> : null
}
