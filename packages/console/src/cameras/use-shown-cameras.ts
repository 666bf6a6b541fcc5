import { useState } from 'react'
import type { VideoWatch } from '../video/watch-video.ts'
import type { Cameras } from './use-cameras.ts'

/** A camera that is shown. */
export interface WatchedCamera {
  readonly name: string
  readonly label: string
  readonly watch: VideoWatch
}

/** Returns the large picture and the small ones with their viewers, and where to put the viewers. */
export function useShownCameras({ main }: Cameras) {
  const [watch, setWatch] = useState<VideoWatch>()
  const [small, setSmall] = useState<readonly WatchedCamera[]>([])
  const shown: readonly WatchedCamera[] =
    watch && main ? [{ name: main.name, label: main.label, watch }, ...small] : small
  return { watch, shown, onWatch: setWatch, onSmallWatches: setSmall }
}
