import { Button, Stack, Text } from '@mantine/core'
import { useEffect, useRef, useState } from 'react'
import { useStore } from '../ui/store.ts'
import { useTicker } from '../ui/use-ticker.ts'
import styles from './video.module.css'
import { type VideoWatch, watchVideo } from './watch-video.ts'

/** A picture whose newest frame is older than this does not show how things are. */
const STALE_MS = 2_000
const AGE_REFRESH_MS = 500

interface Props {
  /** Where the video is; none when empty or missing. */
  readonly url: string | null | undefined
  /** What it shows: "Camera of Warehouse arm". */
  readonly title: string
}

/** The robot's video, by whatever its address answers: WHEP, HLS, a video file, MJPEG or a still. */
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
  const { phase, why, playing } = useStore(watch.state)
  if (phase === 'showing') return playing.framesKnown ? <Standstill watch={watch} /> : null
  if (phase === 'looking' && why === undefined) return <Cover text="Looking for the video" />
  return (
    <Cover text={`There is no picture: ${why ?? 'it does not answer'}.`}>
      <Text size="sm">{phase === 'looking' ? 'Trying again.' : 'It will be tried again.'}</Text>
      <Button variant="default" size="xs" onClick={watch.retry}>
        Try now
      </Button>
    </Cover>
  )
}

function useSinceLastFrameMs(watch: VideoWatch): number {
  useTicker(AGE_REFRESH_MS)
  return performance.now() - (watch.lastFrameMs() ?? performance.now())
}

/** Across the picture: it does not show how things are. */
function Standstill({ watch }: { watch: VideoWatch }) {
  const sinceMs = useSinceLastFrameMs(watch)
  if (sinceMs <= STALE_MS) return null
  return <div className={styles.standstill}>The picture stopped {(sinceMs / 1000).toFixed(0)} s ago</div>
}

/** What is known of the picture's age. Below it: what a camera writes into its picture may stand anywhere. */
function FrameAge({ watch }: { watch: VideoWatch }) {
  const sinceMs = useSinceLastFrameMs(watch)
  const { phase, playing } = useStore(watch.state)
  if (phase !== 'showing') return null
  if (!playing.framesKnown) return 'This camera does not tell how old its picture is'
  const behindS = playing.behindS?.()
  return [
    sinceMs <= STALE_MS && `Last picture ${Math.round(sinceMs)} ms ago`,
    behindS !== undefined && `${behindS.toFixed(1)} s or more behind the camera`,
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
