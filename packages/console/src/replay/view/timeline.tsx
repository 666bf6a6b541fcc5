import { ActionIcon } from '@mantine/core'
import { useElementSize } from '@mantine/hooks'
import { type KeyboardEvent, useCallback, useEffect, useRef } from 'react'
import { useStore } from '../../base/store.ts'
import { t } from '../../texts/texts.ts'
import { numberAt } from '../data/moment-reader.ts'
import type { Overview } from '../data/overview.ts'
import type { Replay } from '../player/replay.ts'
import { overviewFor } from './detail.ts'
import { EventMarks } from './event-marks.tsx'
import type { Plot } from './plot-lines.ts'
import { heightOf, plotChoices, plotHeights, resizePlot } from './plot-menu.tsx'
import { createPlotView, LINE_COLORS, type PlotView } from './plot-view.ts'
import { IconClose } from './replay-icons.tsx'
import { preciseClock, usePositionEffect } from './replay-time.ts'
import styles from './timeline.module.css'
import { createTip, valueText } from './tip.ts'
import { colorsOf, drawTracks } from './track-drawing.ts'
import { axisOf, type GapSpan, layoutOf, type TrackName, type Tracks } from './tracks.ts'

interface Props {
  readonly replay: Replay
  readonly startMs: number
  readonly tracks: Tracks
  readonly plots: readonly Plot[]
}

const trackNames: Readonly<Record<TrackName, string>> = {
  ruler: '',
  episodes: t('replay.tracks.episodes'),
  state: t('replay.tracks.state'),
  link: t('replay.tracks.link'),
  marks: t('replay.tracks.marks'),
}

/** Shows the time axis: tracks, plots and the position, which is dragged. */
export function Timeline({ replay, startMs, tracks, plots }: Props) {
  const { ref: sized, width } = useElementSize()
  const root = useRef<HTMLDivElement>(null)
  const canvas = useRef<HTMLCanvasElement>(null)
  const playhead = useRef<HTMLDivElement>(null)
  const latest = useRef({ tracks, plots })
  latest.current = { tracks, plots }
  const layout = layoutOf(tracks)

  const draw = useCallback(
    (atMs: number) => {
      const range = replay.view.range.get()
      if (canvas.current) drawTracks(canvas.current, { range, startMs, tracks: latest.current.tracks })
      if (playhead.current) setPlayhead(playhead.current, atMs, axisOf(range, width))
    },
    [replay, startMs, width],
  )
  usePositionEffect(replay, draw)
  // biome-ignore lint/correctness/useExhaustiveDependencies: other tracks are drawn at once
  useEffect(() => draw(replay.clock.position.get()), [draw, replay, tracks])

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
        <div className={styles.tracks} style={{ height: layout.at(-1)?.bottom }}>
          <canvas ref={canvas} className={styles.canvas} aria-hidden />
          <div className={styles.names} aria-hidden>
            {layout.map(({ name, height }) => (
              <div key={name} style={{ height }}>
                {trackNames[name]}
              </div>
            ))}
          </div>
          <PositionSlider replay={replay} startMs={startMs} />
          <EventMarks replay={replay} startMs={startMs} tracks={tracks} width={width} />
        </div>
        {plots.map((plot) => (
          <PlotRow
            key={plot.id}
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

/** Values that change more often cannot be read. */
const VALUES_MS = 100

interface PlotRowProps {
  readonly replay: Replay
  readonly startMs: number
  readonly plot: Plot
  /** Width of the axis; a change redraws the plot. */
  readonly width: number
  readonly gaps: readonly GapSpan[]
}

/** Shows one plot with the values at the position. */
function PlotRow({ replay, startMs, plot, width, gaps }: PlotRowProps) {
  const chart = useRef<HTMLDivElement>(null)
  const row = useRef<HTMLElement>(null)
  const height = heightOf(useStore(plotHeights), plot)
  const opened = useRef<PlotView>(undefined)
  const latestGaps = useRef(gaps)
  latestGaps.current = gaps

  useEffect(() => {
    const element = chart.current
    if (!element) return
    const { fontFamily } = getComputedStyle(element)
    const view = createPlotView(element, {
      plot,
      startMs,
      colors: colorsOf(element),
      fontFamily,
      gaps: () => latestGaps.current,
    })
    opened.current = view
    let shown: Overview | undefined
    const update = () => {
      const range = replay.view.range.get()
      const overview = overviewFor(replay, range)
      if (overview && overview !== shown) view.setData(overview)
      shown = overview
      view.show(range)
    }
    const unsubscribe = [replay.view.range.subscribe(update), replay.overview.state.subscribe(update)]
    update()
    return () => {
      for (const end of unsubscribe) end()
      view.close()
      opened.current = undefined
    }
  }, [replay, plot, startMs])
  // biome-ignore lint/correctness/useExhaustiveDependencies: the chart reads its width from its element
  useEffect(() => opened.current?.resize(), [width, height])

  const writtenMs = useRef(0)
  const write = useCallback(
    (atMs: number) => {
      const nowMs = performance.now()
      if (replay.clock.isPlaying.get() && nowMs - writtenMs.current < VALUES_MS) return
      writtenMs.current = nowMs
      const outputs = row.current?.querySelectorAll('output') ?? []
      for (const [index, line] of plot.lines.entries()) {
        const value = numberAt(replay.moments, line.key, atMs)
        const output = outputs[index]
        if (output) output.textContent = value === undefined ? '–' : valueText(line, value)
      }
    },
    [replay, plot],
  )
  usePositionEffect(replay, write)

  const legend = plot.lines.map((line, index) => (
    <span key={line.key} className={index === 0 ? styles.first : styles.legend}>
      {plot.lines.length > 1 && <i style={{ background: `var(--replay-line-${index % LINE_COLORS})` }} />}
      {index > 0 && `${line.label} `}
      <output aria-live="off">–</output>
    </span>
  ))
  const [first, ...others] = legend
  return (
    <section className={styles.plot} ref={row} aria-label={plot.title} data-plot={plot.id} style={{ height }}>
      <header className={styles.plotHead}>
        <span className={styles.plotTitle}>{plot.title}</span>
        {first}
      </header>
      {others.length > 0 && <div className={styles.others}>{others}</div>}
      <div
        ref={chart}
        className={styles.chart}
        role="img"
        aria-label={t('replay.plots.label', { plot: plot.title })}
      />
      <ActionIcon
        className={styles.remove ?? ''}
        variant="subtle"
        color="gray"
        size={24}
        aria-label={t('replay.plots.remove', { plot: plot.title })}
        onClick={() => plotChoices.update((old) => ({ ...old, [plot.id]: false }))}
      >
        <IconClose size={14} />
      </ActionIcon>
      <Grip plot={plot} height={height} />
    </section>
  )
}

const KEY_STEP_PX = 12

/** The lower edge of a plot, which sets its height. */
function Grip({ plot, height }: { plot: Plot; height: number }) {
  const onKeyDown = (event: KeyboardEvent) => {
    const step = event.key === 'ArrowDown' ? KEY_STEP_PX : event.key === 'ArrowUp' ? -KEY_STEP_PX : 0
    if (step === 0) return
    event.preventDefault()
    resizePlot(plot, height + step)
  }
  return (
    // biome-ignore lint/a11y/useSemanticElements: a rule that is dragged
    <div
      className={styles.grip}
      role="separator"
      aria-orientation="horizontal"
      aria-label={t('replay.plots.height', { plot: plot.title })}
      aria-valuenow={height}
      tabIndex={0}
      onKeyDown={onKeyDown}
      onPointerDown={(event) => event.currentTarget.setPointerCapture(event.pointerId)}
      onPointerMove={(event) => {
        if (event.currentTarget.hasPointerCapture(event.pointerId)) resizePlot(plot, height + event.movementY)
      }}
    />
  )
}

const ZOOM_PER_PX = 0.0022
const LARGEST_WHEEL_PX = 120
const PINCH_PX = 10

interface Options {
  readonly replay: Replay
  /** Called while the pointer is over the axis. */
  readonly onHover: (event: PointerEvent) => void
  readonly onLeave: () => void
}

/** Moves the position by dragging, and zooms with the wheel or two fingers, on the whole time axis. */
function createScrubbing(element: HTMLElement, { replay, onHover, onLeave }: Options) {
  const { clock, view } = replay
  const listening = new AbortController()
  const pointers = new Map<number, PointerEvent>()
  let pinch: { span: number; atMs: number } | undefined
  let resumes = false

  const axis = () => axisOf(view.range.get(), element.clientWidth)
  const timeAt = ({ clientX }: { clientX: number }) =>
    axis().timeAt(clientX - element.getBoundingClientRect().left)
  const isOnAxis = (event: PointerEvent) =>
    event.target instanceof Element &&
    event.target.closest('[data-tracks], [data-plot]') !== null &&
    event.target.closest('button, [role=separator]') === null

  function onDown(event: PointerEvent): void {
    if (event.button !== 0 || !isOnAxis(event)) return
    pointers.set(event.pointerId, event)
    if (pointers.size === 2) return beginPinch()
    resumes = clock.isPlaying.get()
    clock.pause()
    element.setPointerCapture(event.pointerId)
    if (event.pointerType !== 'mouse') event.preventDefault()
    clock.seek(timeAt(event))
  }

  function beginPinch(): void {
    const [one, other] = [...pointers.values()]
    if (!one || !other) return
    const span = Math.max(PINCH_PX, Math.abs(one.clientX - other.clientX))
    pinch = { span, atMs: timeAt({ clientX: (one.clientX + other.clientX) / 2 }) }
  }

  function onDrag(event: PointerEvent): void {
    if (!pointers.has(event.pointerId)) return isOnAxis(event) ? onHover(event) : onLeave()
    pointers.set(event.pointerId, event)
    const [one, other] = [...pointers.values()]
    if (pinch && one && other) {
      const span = Math.max(PINCH_PX, Math.abs(one.clientX - other.clientX))
      view.zoom(pinch.span / span, pinch.atMs)
      pinch = { ...pinch, span }
    } else {
      clock.seek(timeAt(event))
      onHover(event)
    }
  }

  function onUp(event: PointerEvent): void {
    if (!pointers.delete(event.pointerId)) return
    if (pointers.size < 2) pinch = undefined
    if (pointers.size === 0 && resumes) clock.play()
  }

  function onWheel(event: WheelEvent): void {
    const isOnTracks = event.target instanceof Element && event.target.closest('[data-tracks]') !== null
    const isZoom =
      event.ctrlKey || event.metaKey || (isOnTracks && Math.abs(event.deltaY) >= Math.abs(event.deltaX))
    const isPan = !isZoom && Math.abs(event.deltaX) > Math.abs(event.deltaY)
    if (!isZoom && !isPan) return
    event.preventDefault()
    if (isPan) return view.pan(event.deltaX * axis().msPerPx)
    const delta = Math.max(-LARGEST_WHEEL_PX, Math.min(LARGEST_WHEEL_PX, event.deltaY))
    view.zoom(Math.exp(delta * ZOOM_PER_PX), timeAt(event))
  }

  const { signal } = listening
  element.addEventListener('pointerdown', onDown, { signal })
  element.addEventListener('pointermove', onDrag, { signal })
  element.addEventListener('pointerup', onUp, { signal })
  element.addEventListener('pointercancel', onUp, { signal })
  element.addEventListener('pointerleave', onLeave, { signal })
  element.addEventListener('wheel', onWheel, { signal, passive: false })
  return { close: () => listening.abort() }
}
