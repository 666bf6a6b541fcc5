import { useCallback, useEffect, useRef } from 'react'
import { t } from '../../texts/texts.ts'
import type { Overview } from '../data/overview.ts'
import type { Replay } from '../player/replay.ts'
import { overviewFor } from './detail.ts'
import { numberAt } from './moment-values.ts'
import type { Plot } from './plot-lines.ts'
import { createPlotView, LINE_COLORS, type PlotView } from './plot-view.ts'
import type { GapSpan } from './spans.ts'
import styles from './timeline.module.css'
import { valueText } from './tip.ts'
import { colorsOf } from './track-shapes.ts'
import { usePositionEffect } from './use-position.ts'

/** Values that change more often cannot be read. */
const VALUES_MS = 100

interface Props {
  readonly replay: Replay
  readonly startMs: number
  readonly plot: Plot
  /** Width of the axis; a change redraws the plot. */
  readonly width: number
  readonly gaps: readonly GapSpan[]
}

/** Shows one plot with the values at the position. */
export function PlotRow({ replay, startMs, plot, width, gaps }: Props) {
  const chart = useRef<HTMLDivElement>(null)
  const head = useRef<HTMLElement>(null)
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
  useEffect(() => opened.current?.resize(), [width])

  const writtenMs = useRef(0)
  const write = useCallback(
    (atMs: number) => {
      const nowMs = performance.now()
      if (replay.clock.isPlaying.get() && nowMs - writtenMs.current < VALUES_MS) return
      writtenMs.current = nowMs
      const outputs = head.current?.querySelectorAll('output') ?? []
      for (const [index, line] of plot.lines.entries()) {
        const value = numberAt(replay.moments, line.key, atMs)
        const output = outputs[index]
        if (output) output.textContent = value === undefined ? '–' : valueText(line, value)
      }
    },
    [replay, plot],
  )
  usePositionEffect(replay, write)

  return (
    <section className={styles.plot} aria-label={plot.title} data-plot={plot.id}>
      <header className={styles.plotHead} ref={head}>
        <span className={styles.plotTitle}>{plot.title}</span>
        {plot.lines.map(({ key, label }, index) => (
          <span key={key} className={styles.legend}>
            <i style={{ background: `var(--replay-line-${index % LINE_COLORS})` }} />
            {label} <output aria-live="off">–</output>
          </span>
        ))}
      </header>
      <div ref={chart} role="img" aria-label={t('replay.plots.label', { plot: plot.title })} />
    </section>
  )
}
