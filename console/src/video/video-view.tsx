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
    const begun = watchVideo(url, title, host.current)
    setWatch(begun)
    return () => {
      begun.close()
      setWatch(undefined)
    }
  }, [url, title])
  return (
    <section className={styles.frame} aria-label={title}>
      <div ref={host} className={styles.host} />
      {!url && <Cover text="This robot has no video." />}
      {watch && <VideoStatus watch={watch} />}
    </section>
  )
}

function VideoStatus({ watch }: { watch: VideoWatch }) {
  const { phase, why, framesKnown } = useStore(watch.state)
  if (phase === 'showing') return framesKnown ? <FrameAge watch={watch} /> : null
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

/** How old the picture is; a warning when it stands still. */
function FrameAge({ watch }: { watch: VideoWatch }) {
  useTicker(AGE_REFRESH_MS)
  const ageMs = performance.now() - (watch.lastFrameMs() ?? performance.now())
  const stale = ageMs > STALE_MS
  return (
    <div className={stale ? styles.stale : styles.age}>
      {stale
        ? `The picture stopped ${(ageMs / 1000).toFixed(0)} s ago`
        : `Picture ${Math.round(ageMs)} ms old`}
    </div>
  )
}

const Cover = ({ text, children }: { text: string; children?: React.ReactNode }) => (
  <Stack className={styles.cover} align="center" justify="center" gap="xs" role="status">
    <Text>{text}</Text>
    {children}
  </Stack>
)
