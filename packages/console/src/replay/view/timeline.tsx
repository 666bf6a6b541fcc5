import { useComputedColorScheme } from '@mantine/core'
import { useElementSize } from '@mantine/hooks'
import { useCallback, useEffect, useRef } from 'react'
import { t } from '../../texts/texts.ts'
import { useStore } from '../../ui/store.ts'
import type { Replay } from '../player/replay.ts'
import type { Plot } from './plot-lines.ts'
import { PlotRow } from './plot-row.tsx'
import { preciseClock } from './replay-time.ts'
import { createScrubbing } from './scrubbing.ts'
import styles from './timeline.module.css'
import { createTip } from './tip.ts'
import { drawTracks } from './track-drawing.ts'
import { axisOf, TRACK_HEIGHTS, TRACKS_HEIGHT, type Tracks } from './tracks.ts'
import { usePositionEffect } from './use-position.ts'

interface Props {
  readonly replay: Replay
  readonly startMs: number
  readonly tracks: Tracks
  readonly plots: readonly Plot[]
}

const trackNames = [
  ['ruler', ''],
  ['episodes', t('replay.tracks.episodes')],
  ['state', t('replay.tracks.state')],
  ['commands', t('replay.tracks.commands')],
  ['marks', t('replay.tracks.marks')],
] as const

/** Shows the time axis: tracks, plots and the position, which is dragged. */
export function Timeline({ replay, startMs, tracks, plots }: Props) {
  const { ref: sized, width } = useElementSize()
  const root = useRef<HTMLDivElement>(null)
  const canvas = useRef<HTMLCanvasElement>(null)
  const playhead = useRef<HTMLDivElement>(null)
  const scheme = useComputedColorScheme()
  const latest = useRef({ tracks, plots })
  latest.current = { tracks, plots }

  const draw = useCallback(
    (atMs: number) => {
      const range = replay.view.range.get()
      if (canvas.current) drawTracks(canvas.current, { range, startMs, tracks: latest.current.tracks })
      if (playhead.current) setPlayhead(playhead.current, atMs, axisOf(range, width))
    },
    [replay, startMs, width],
  )
  usePositionEffect(replay, draw)
  // biome-ignore lint/correctness/useExhaustiveDependencies: other tracks and another colour scheme are drawn at once
  useEffect(() => draw(replay.clock.position.get()), [draw, replay, tracks, scheme])

  useEffect(() => {
    const element = root.current
    if (!element) return
    const tip = createTip(element, { replay, startMs, read: () => latest.current })
    const scrubbing = createScrubbing(element, { replay, onHover: tip.show, onLeave: tip.hide })
    return () => {
      scrubbing.close()
      tip.close()
    }
  }, [replay, startMs])

  return (
    <div className={styles.timeline} ref={root} data-testid="timeline">
      <div className={styles.content} ref={sized}>
        <div className={styles.tracks} style={{ height: TRACKS_HEIGHT }}>
          <canvas ref={canvas} className={styles.canvas} aria-hidden />
          <div className={styles.names} aria-hidden>
            {trackNames.map(([track, name]) => (
              <div key={track} style={{ height: TRACK_HEIGHTS[track] }}>
                {name}
              </div>
            ))}
          </div>
          <PositionSlider replay={replay} startMs={startMs} />
        </div>
        {plots.map((plot) => (
          <PlotRow
            key={`${plot.id} ${scheme}`}
            replay={replay}
            startMs={startMs}
            plot={plot}
            width={width}
            gaps={tracks.gaps}
          />
        ))}
        <div className={styles.hover} data-hover aria-hidden />
        <div className={styles.playhead} ref={playhead} aria-hidden />
      </div>
      <div className={styles.tip} data-tip aria-hidden />
    </div>
  )
}

/** Renders the control of the position for the keyboard and for screen readers. The keys of the page move it. */
function PositionSlider({ replay, startMs }: Pick<Props, 'replay' | 'startMs'>) {
  const element = useRef<HTMLDivElement>(null)
  const { fromMs, toMs } = useStore(replay.clock.limits)
  const describe = useCallback(
    (atMs: number) => {
      const position = preciseClock(atMs - startMs)
      const end = preciseClock(toMs - startMs)
      element.current?.setAttribute('aria-valuenow', ((atMs - startMs) / 1_000).toFixed(3))
      element.current?.setAttribute('aria-valuetext', t('replay.position.of', { position, end }))
    },
    [startMs, toMs],
  )
  usePositionEffect(replay, describe)
  return (
    <div
      ref={element}
      className={styles.slider}
      data-tracks
      role="slider"
      tabIndex={0}
      aria-label={t('replay.position.label')}
      aria-valuemin={(fromMs - startMs) / 1_000}
      aria-valuemax={(toMs - startMs) / 1_000}
      aria-valuenow={0}
    />
  )
}

function setPlayhead(element: HTMLElement, atMs: number, axis: ReturnType<typeof axisOf>): void {
  const x = axis.xOf(atMs)
  element.hidden = x < axis.left - 1 || x > axis.right + 1
  element.style.transform = `translateX(${x.toFixed(1)}px)`
}
