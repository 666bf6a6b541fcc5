import { ActionIcon, Tooltip } from '@mantine/core'
import { useElementSize } from '@mantine/hooks'
import { type KeyboardEvent, useEffect, useMemo, useRef } from 'react'
import { decimals } from '../../base/format.ts'
import { IconX } from '../../base/icons.tsx'
import { useStore } from '../../base/store.ts'
import { StateShape } from '../../status/state-label.tsx'
import { dropText, gapText } from '../../texts/code-texts.ts'
import { language, t } from '../../texts/texts.ts'
import type { Overview } from '../data/overview.ts'
import { numberAt, type TimeRange } from '../data/recording-source.ts'
import type { Replay } from '../player/replay.ts'
import {
  createPlotView,
  DEFAULT_PX,
  lineColor,
  type Plot,
  type PlotLine,
  type PlotView,
  plotChoices,
  plotHeights,
  resizePlot,
  valueNear,
} from './plots.tsx'
import { IconBookmark } from './replay-icons.tsx'
import { preciseClock, usePositionEffect, wallClock } from './replay-time.ts'
import styles from './timeline.module.css'
import {
  type Axis,
  axisOf,
  drawTracks,
  episodeName,
  episodeResult,
  type GapSpan,
  type LogEntry,
  layoutOf,
  linkText,
  spanAt,
  stateText,
  type TrackName,
  type Tracks,
  trackAt,
} from './tracks.ts'

interface Props {
  readonly replay: Replay
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
export function Timeline({ replay, tracks, plots }: Props) {
  const { ref: sized, width } = useElementSize()
  const root = useRef<HTMLDivElement>(null)
  const canvas = useRef<HTMLCanvasElement>(null)
  const playhead = useRef<HTMLDivElement>(null)
  const latest = useRef({ tracks, plots })
  latest.current = { tracks, plots }
  const layout = layoutOf(tracks)

  usePositionEffect(replay, (atMs) => {
    const range = replay.view.range.get()
    if (canvas.current) drawTracks(canvas.current, { range, startMs: replay.startMs, tracks })
    if (!playhead.current) return
    const axis = axisOf(range, width)
    const x = axis.xOf(atMs)
    playhead.current.hidden = x < axis.left - 1 || x > axis.right + 1
    playhead.current.style.transform = `translateX(${x.toFixed(1)}px)`
  })

  useEffect(() => {
    const element = root.current
    if (!element) return
    const tip = createTip(element, replay, () => latest.current)
    const scrubbing = createScrubbing(element, replay, tip)
    return () => {
      scrubbing.abort()
      tip.hide()
    }
  }, [replay])

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
          <PositionSlider replay={replay} />
          <EventMarks replay={replay} tracks={tracks} width={width} />
        </div>
        {plots.map((plot) => (
          <PlotRow key={plot.id} replay={replay} plot={plot} width={width} gaps={tracks.gaps} />
        ))}
        <div className={styles.hover} data-hover aria-hidden />
        <div className={styles.playhead} ref={playhead} aria-hidden />
      </div>
      <div className={styles.tip} data-tip aria-hidden />
    </div>
  )
}

/** Renders the control of the position for the keyboard and for screen readers. The keys of the page move it. */
function PositionSlider({ replay }: Pick<Props, 'replay'>) {
  const { startMs } = replay
  const element = useRef<HTMLDivElement>(null)
  const { fromMs, toMs } = useStore(replay.clock.limits)
  usePositionEffect(replay, (atMs) => {
    const [position, end] = [preciseClock(atMs - startMs), preciseClock(toMs - startMs)]
    element.current?.setAttribute('aria-valuenow', ((atMs - startMs) / 1_000).toFixed(3))
    element.current?.setAttribute('aria-valuetext', t('replay.position.of', { position, end }))
  })
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

const VALUES_MS = 100

interface PlotRowProps {
  readonly replay: Replay
  readonly plot: Plot
  /** Width of the axis; a change redraws the plot. */
  readonly width: number
  readonly gaps: readonly GapSpan[]
}

function PlotRow({ replay, plot, width, gaps }: PlotRowProps) {
  const chart = useRef<HTMLDivElement>(null)
  const row = useRef<HTMLElement>(null)
  const height = useStore(plotHeights)[plot.id] ?? DEFAULT_PX
  const opened = useRef<PlotView>(undefined)
  const latestGaps = useRef(gaps)
  latestGaps.current = gaps

  useEffect(() => {
    const element = chart.current
    if (!element) return
    const view = createPlotView(element, { plot, startMs: replay.startMs, gaps: () => latestGaps.current })
    opened.current = view
    let shown: Overview | undefined
    const update = () => {
      const range = replay.view.range.get()
      const overview = replay.overviewOf(range)
      if (overview && overview !== shown) view.setData(overview)
      shown = overview
      view.show(range)
    }
    const unsubscribe = [replay.view.range.subscribe(update), replay.overview.subscribe(update)]
    update()
    return () => {
      for (const end of unsubscribe) end()
      view.close()
      opened.current = undefined
    }
  }, [replay, plot])
  // biome-ignore lint/correctness/useExhaustiveDependencies: the chart reads its width from its element
  useEffect(() => opened.current?.resize(), [width, height])

  const writtenMs = useRef(0)
  usePositionEffect(replay, (atMs) => {
    const nowMs = performance.now()
    if (replay.clock.isPlaying.get() && nowMs - writtenMs.current < VALUES_MS) return
    writtenMs.current = nowMs
    for (const [index, output] of (row.current?.querySelectorAll('output') ?? []).entries()) {
      const line = plot.lines[index]
      const value = line && numberAt(replay.moments, line.key, atMs)
      output.textContent = line && value !== undefined ? valueText(line, value) : '–'
    }
  })

  const legend = plot.lines.map((line, index) => (
    <span key={line.key} className={index === 0 ? styles.first : styles.legend}>
      {plot.lines.length > 1 && <i style={{ background: lineColor(index) }} />}
      {index > 0 && `${line.label} `}
      <output aria-live="off">–</output>
    </span>
  ))
  const [first, ...others] = legend
  return (
    <section className={styles.plot} ref={row} aria-label={plot.title} data-plot={plot.id} style={{ height }}>
      <header className={styles.plotHead}>
        <span>{plot.title}</span>
        {first}
      </header>
      {others.length > 0 && <div className={styles.others}>{others}</div>}
      <div
        ref={chart}
        style={{ minWidth: 0, minHeight: 0, overflow: 'hidden' }}
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
        <IconX size={14} />
      </ActionIcon>
      <Grip plot={plot} height={height} />
    </section>
  )
}

const KEY_STEP_PX = 12

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

/** Moves the position by dragging, and zooms with the wheel or two fingers, on the whole time axis. */
function createScrubbing(element: HTMLElement, { clock, view }: Replay, tip: ReturnType<typeof createTip>) {
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
    const two = fingers()
    if (two) {
      pinch = { span: two.span, atMs: timeAt(two) }
      return
    }
    resumes = clock.isPlaying.get()
    clock.pause()
    element.setPointerCapture(event.pointerId)
    if (event.pointerType !== 'mouse') event.preventDefault()
    clock.seek(timeAt(event))
  }

  /** Returns the distance of two fingers and the middle between them; undefined without them. */
  function fingers() {
    const [one, other] = [...pointers.values()]
    if (!one || !other) return undefined
    const span = Math.max(PINCH_PX, Math.abs(one.clientX - other.clientX))
    return { span, clientX: (one.clientX + other.clientX) / 2 }
  }

  function onDrag(event: PointerEvent): void {
    if (!pointers.has(event.pointerId)) return isOnAxis(event) ? tip.show(event) : tip.hide()
    pointers.set(event.pointerId, event)
    const two = fingers()
    if (pinch && two) {
      view.zoom(pinch.span / two.span, pinch.atMs)
      pinch = { ...pinch, span: two.span }
    } else {
      clock.seek(timeAt(event))
      tip.show(event)
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
  element.addEventListener('pointerleave', tip.hide, { signal })
  element.addEventListener('wheel', onWheel, { signal, passive: false })
  return listening
}

const NEAR_PX = 14
const MAX_LINES = 4

/** Marks events, messages and bookmarks on the time axis, each with its words on hover and focus. Arrows move between them. */
function EventMarks(props: { replay: Replay; tracks: Tracks; width: number }) {
  const { replay, tracks, width } = props
  const range = useStore(replay.view.range)
  const marks = useMemo(() => marksOf(tracks, axisOf(range, width)), [tracks, range, width])
  const row = useRef<HTMLDivElement>(null)
  if (marks.length === 0) return null
  const onKeyDown = (event: KeyboardEvent) => {
    const buttons = [...(row.current?.querySelectorAll('button') ?? [])]
    const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0
    const next = buttons[buttons.indexOf(document.activeElement as HTMLButtonElement) + step]
    if (step === 0 || !next) return
    event.preventDefault()
    next.focus()
  }
  return (
    <div
      className={styles.marks}
      ref={row}
      role="listbox"
      tabIndex={-1}
      aria-orientation="horizontal"
      aria-label={t('replay.tracks.marks')}
      onKeyDown={onKeyDown}
      data-marks
    >
      {marks.map(({ x, atMs, lines, shape }, index) => (
        <Tooltip
          key={`${atMs} ${shape ?? 'bookmark'}`}
          label={lines.join('\n')}
          multiline
          maw={320}
          style={{ whiteSpace: 'pre-line' }}
          events={{ hover: true, focus: true, touch: true }}
        >
          <button
            type="button"
            role="option"
            aria-selected={false}
            className={styles.mark}
            style={{ left: x }}
            // One stop for Tab, however many events there are.
            tabIndex={index === 0 ? 0 : -1}
            aria-label={t('replay.marks.at', {
              time: preciseClock(atMs - replay.startMs),
              event: lines.join(', '),
            })}
            onClick={() => replay.jump(atMs)}
          >
            {shape ? <StateShape name={shape} /> : <IconBookmark size={13} />}
          </button>
        </Tooltip>
      ))}
    </div>
  )
}

/** A state counts before the events around it. */
const weightOf = ({ shape }: Partial<Pick<LogEntry, 'shape'>>) =>
  shape === undefined ? 2 : shape === 'off' || shape === 'live' ? 0 : 1

function marksOf({ entries, marks }: Tracks, axis: Axis) {
  const mark = (atMs: number, line: string, shape?: LogEntry['shape']) => ({
    x: axis.xOf(atMs),
    atMs,
    lines: [line] as readonly string[],
    shape,
  })
  const all = [
    ...entries.map(({ atMs, text, sender, shape }) =>
      mark(atMs, sender === undefined ? text : t('replay.tip.chat', { sender, text }), shape),
    ),
    ...marks.map(({ atMs, bookmark: { label, user_name: user } }) =>
      mark(atMs, t('replay.tip.bookmark', { label, user })),
    ),
  ]
  const shown: typeof all = []
  for (const mark of all.sort((a, b) => a.atMs - b.atMs)) {
    if (mark.x < axis.left - 1 || mark.x > axis.right + 1) continue
    const last = shown.at(-1)
    if (!last || mark.x - last.x >= NEAR_PX) {
      shown.push(mark)
      continue
    }
    const main = weightOf(mark) > weightOf(last) ? { ...mark, x: last.x } : last
    shown[shown.length - 1] = { ...main, lines: linesOf([...last.lines, ...mark.lines]) }
  }
  return shown
}

const linesOf = (lines: readonly string[]): readonly string[] =>
  lines.length <= MAX_LINES ? lines : [...lines.slice(0, MAX_LINES), '…']

const OFFSET_PX = 14

/**
 * Shows the exact values below the pointer. It writes elements itself, because it follows every movement.
 * @param read returns the shown tracks and plots
 */
export function createTip(
  root: HTMLElement,
  replay: Replay,
  read: () => { readonly tracks: Tracks; readonly plots: readonly Plot[] },
) {
  const tip = root.querySelector<HTMLElement>('[data-tip]')
  const line = root.querySelector<HTMLElement>('[data-hover]')

  function hide(): void {
    for (const element of [tip, line]) element?.removeAttribute('data-shown')
  }

  function show(event: PointerEvent): void {
    if (!tip || !line || event.pointerType === 'touch') return
    const box = root.getBoundingClientRect()
    const range = replay.view.range.get()
    const axis = axisOf(range, root.clientWidth)
    const x = event.clientX - box.left
    if (x < axis.left || x > axis.right) return hide()
    const atMs = axis.timeAt(x)
    const target = event.target instanceof Element ? event.target : root
    const tracksElement = target.closest('[data-tracks]')
    const { tracks, plots } = read()
    const plot = plots.find(({ id }) => id === target.closest<HTMLElement>('[data-plot]')?.dataset.plot)
    const y = event.clientY - (tracksElement?.getBoundingClientRect().top ?? 0)
    const lines = tracksElement ? trackTip(trackAt(y, tracks), atMs, tracks, axis).map(textLine) : []
    if (plot) lines.push(...plotTip(plot, atMs, replay.overviewOf(range)))
    const time = `${preciseClock(atMs - replay.startMs, 2)} · ${wallClock(atMs)}`
    tip.replaceChildren(textLine(time), ...lines)
    tip.dataset.shown = ''
    line.dataset.shown = ''
    line.style.transform = `translateX(${x.toFixed(1)}px)`
    positionTip(tip, x, event.clientY - box.top, root)
  }

  return { show, hide }
}

function positionTip(tip: HTMLElement, x: number, y: number, root: HTMLElement): void {
  const { offsetWidth, offsetHeight } = tip
  const isLeft = x + OFFSET_PX + offsetWidth > root.clientWidth
  const left = isLeft ? Math.max(0, x - OFFSET_PX - offsetWidth) : x + OFFSET_PX
  const top = Math.max(0, y - offsetHeight - OFFSET_PX) + root.scrollTop
  tip.style.transform = `translate(${left.toFixed(0)}px, ${top.toFixed(0)}px)`
}

function textLine(text: string): HTMLElement {
  const element = document.createElement('div')
  element.textContent = text
  return element
}

function plotTip(plot: Plot, atMs: number, overview: Overview | undefined): HTMLElement[] {
  return plot.lines.flatMap((line, index) => {
    const values = overview && valueNear(overview, overview.series.get(line.key), atMs)
    if (!values) return []
    const element = textLine(t('replay.tip.value', { name: line.label, value: rangeText(line, values) }))
    const dot = document.createElement('i')
    dot.style.background = lineColor(index)
    element.prepend(dot)
    return [element]
  })
}

/** Returns one value, or the smallest and the largest one of the bucket. */
function rangeText(line: PlotLine, [low, high]: readonly [number, number]): string {
  const [from, to] = [valueText(line, low), valueText(line, high)]
  return from === to ? from : t('replay.tip.range', { from: valueText({ ...line, unit: '' }, low), to })
}

export function valueText({ unit, factor }: PlotLine, value: number): string {
  const scaled = value * factor
  const digits = unit === 'ms' ? 0 : unit === '%' || Math.abs(scaled) >= 100 ? 1 : 2
  return `${decimals(scaled, digits)} ${unit}`.trim()
}

const REACH_PX = 6
/** Operators send commands more often than twice in this time. */
const COMMAND_REACH_MS = 100

const counts = new Intl.NumberFormat(language)

/** Returns what a track shows at a time, as lines of text. */
function trackTip(track: TrackName | undefined, atMs: number, tracks: Tracks, axis: Axis): string[] {
  const reach = REACH_PX * axis.msPerPx
  const gap = spanAt(tracks.gaps, atMs, reach / 2)
  const gapLines = gap ? [t('replay.tip.gap', { reason: gapText(gap.reason) }), length(gap)] : []
  if (track === 'episodes') return [...episodeTip(tracks, atMs), ...gapLines]
  const state = spanAt(tracks.states, atMs, reach / 2)
  if (track === 'state') return [...(state ? [stateText(state), length(state)] : []), ...gapLines]
  if (track !== 'link') return gapLines
  const link = spanAt(tracks.links, atMs, reach / 2)
  return [
    ...(link ? [linkText(link), length(link)] : []),
    ...commandTip(tracks.overview, atMs, reach),
    ...gapLines,
  ]
}

const length = ({ fromMs, toMs }: TimeRange) =>
  t('replay.tip.length', { length: preciseClock(toMs - fromMs) })

const episodeTip = ({ episodes }: Tracks, atMs: number): string[] =>
  episodes
    .filter(({ fromMs, toMs }) => fromMs <= atMs && atMs <= toMs)
    .flatMap((span) => [episodeName(span.episode), episodeResult(span.episode), length(span)])

/** Counts the commands around a time: between two of them a bucket may be empty. */
function commandTip(overview: Overview | undefined, atMs: number, reach: number): string[] {
  if (!overview) return []
  const { originMs, widthMs } = overview
  const middle = Math.floor((atMs - originMs) / widthMs)
  const margin = Math.ceil(Math.max(reach / 2, COMMAND_REACH_MS) / widthMs)
  const [first, last] = [Math.max(0, middle - margin), middle + margin]
  const sum = (values: Uint32Array) => values.subarray(first, last + 1).reduce((a, b) => a + b, 0)
  const passed = sum(overview.passed)
  const dropped = [...overview.dropped]
    .map(([why, values]) => [why, sum(values)] as const)
    .filter(([, count]) => count > 0)
  if (passed === 0 && dropped.length === 0) return []
  return [
    t('replay.tip.passed', { commands: counts.format(passed) }),
    ...dropped.map(([why, count]) =>
      t('replay.tip.dropped', { commands: counts.format(count), reason: dropText(why) }),
    ),
    t('replay.tip.within', { length: preciseClock((last + 1 - first) * widthMs, 2) }),
  ]
}
