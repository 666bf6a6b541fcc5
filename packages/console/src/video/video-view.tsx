import { Button, Stack, Text } from '@mantine/core'
import { useEffect, useRef, useState } from 'react'
import { useStore } from '../ui/store.ts'
import { useTicker } from '../ui/use-ticker.ts'
import styles from './video.module.css'
import { type VideoWatch, watchVideo } from './watch-video.ts'

/** A picture older than this is outdated. */
const STALE_MS = 2_000
const AGE_REFRESH_MS = 500

interface Props {
  /** The address of the video. Empty or missing if the robot has no video. */
  readonly url: string | null | undefined
  /** The accessible name, such as "Camera of Warehouse arm". */
  readonly title: string
}

/** Shows the robot's video: WHEP, HLS, a video file, MJPEG or a still image, depending on the response. */
export function VideoView({ url, title }: Props) {
  const host = useRef<HTMLDivElement>(null)
  const [watch, setWatch] = useState<VideoWatch>()
  useEffect(() => {
    if (!url || !host.current) return
    const opened = watchVideo(url, title, host.current)
    setWatch(opened)
    return () => {
      opened.close()
      setWatch(undefined)
    }
  }, [url, title])
  return (
    <section aria-label={title}>
      <div className={styles.frame}>
        <div ref={host} className={styles.host} />
        {!url && <Cover text="This robot has no video." />}
        {watch && <VideoStatus watch={watch} />}
      </div>
      <div className={styles.caption}>{watch && <FrameAge watch={watch} />}</div>
    </section>
  )
}

function VideoStatus({ watch }: { watch: VideoWatch }) {
  const { phase, reason, playing } = useStore(watch.state)
  if (phase === 'showing') return playing.framesKnown ? <FrozenBanner watch={watch} /> : null
  if (phase === 'connecting' && reason === undefined) return <Cover text="Connecting to the camera…" />
  return (
    <Cover text={`No video: ${reason ?? 'the camera does not respond'}.`}>
      <Text size="sm">{phase === 'connecting' ? 'Retrying…' : 'Retrying soon.'}</Text>
      <Button variant="default" size="xs" onClick={watch.retry}>
        Retry now
      </Button>
    </Cover>
  )
}

function useSinceLastFrameMs(watch: VideoWatch): number {
  useTicker(AGE_REFRESH_MS)
  return performance.now() - (watch.lastFrameMs() ?? performance.now())
}

/** Covers an outdated picture with a warning. */
function FrozenBanner({ watch }: { watch: VideoWatch }) {
  const sinceMs = useSinceLastFrameMs(watch)
  if (sinceMs <= STALE_MS) return null
  return <div className={styles.frozen}>Video frozen for {(sinceMs / 1000).toFixed(0)} s</div>
}

/** Shows the age of the picture below it, because cameras write their own text into the picture. */
function FrameAge({ watch }: { watch: VideoWatch }) {
  const sinceMs = useSinceLastFrameMs(watch)
  const { phase, playing } = useStore(watch.state)
  if (phase !== 'showing') return null
  if (!playing.framesKnown) return 'Video age unknown'
  const behindS = playing.behindS?.()
  return [
    sinceMs <= STALE_MS && `Last frame ${Math.round(sinceMs)} ms ago`,
    behindS !== undefined && `at least ${behindS.toFixed(1)} s behind the camera`,
  ]
    .filter(Boolean)
    .join(', ')
}

const Cover = ({ text, children }: { text: string; children?: React.ReactNode }) => (
  <Stack className={styles.cover} align="center" justify="center" gap="xs" role="status">
    <Text>{text}</Text>
    {children}
  </Stack>
)
