import type { EpisodeMarks } from '../../recording/episode-panel.tsx'
import { EpisodePanel } from '../../recording/episode-panel.tsx'
import { useStore } from '../../ui/store.ts'
import type { Hud } from '../hud.ts'

/** Shows the panel of episodes on the picture: while one runs, and when it is opened. */
export function EpisodeOverlay({ marks, hud }: { marks: EpisodeMarks; hud: Hud }) {
  const isOpen = useStore(hud.areEpisodesShown)
  return isOpen || marks.running ? <EpisodePanel marks={marks} isOnPicture /> : null
}
