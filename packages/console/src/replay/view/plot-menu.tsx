import { Button, Checkbox, Popover, Stack } from '@mantine/core'
import { createPersisted } from '../../base/persisted.ts'
import { t } from '../../texts/texts.ts'
import type { Plot } from './plot-lines.ts'

/** Plots that are shown unless the viewer chose otherwise. The others are in the menu. */
const SHOWN_AT_FIRST: ReadonlySet<string> = new Set(['speed', 'battery', 'latency', 'commands'])

type Choices = Readonly<Record<string, boolean>>

/** Which plots the viewer shows or hides, by id. */
export const plotChoices = createPersisted<Choices>(
  'wheelhouse-replay-plots',
  {},
  (text) => JSON.parse(text) as Choices,
  JSON.stringify,
)

export const isPlotShown = (choices: Choices, { id }: Plot): boolean => choices[id] ?? SHOWN_AT_FIRST.has(id)

const [DEFAULT_PX, SMALLEST_PX, LARGEST_PX] = [68, 48, 320]

/** The heights of plots that the viewer has changed, in pixels, by id. */
export const plotHeights = createPersisted<Readonly<Record<string, number>>>(
  'wheelhouse-replay-heights',
  {},
  (text) => JSON.parse(text) as Record<string, number>,
  JSON.stringify,
)

export const heightOf = (heights: Readonly<Record<string, number>>, { id }: Plot): number =>
  heights[id] ?? DEFAULT_PX

export function resizePlot({ id }: Plot, height: number): void {
  const within = Math.round(Math.min(LARGEST_PX, Math.max(SMALLEST_PX, height)))
  plotHeights.update((old) => ({ ...old, [id]: within }))
}

/** Chooses the plots. */
export const PlotMenu = ({ plots, choices }: { plots: readonly Plot[]; choices: Choices }) => (
  <Popover position="top-end" withinPortal>
    <Popover.Target>
      <Button variant="default" px="xs">
        {t('replay.plots.choose')}
      </Button>
    </Popover.Target>
    <Popover.Dropdown mah="60vh" style={{ overflowY: 'auto' }}>
      <Stack gap="xs" role="group" aria-label={t('replay.plots.choose')}>
        {plots.map((plot) => (
          <Checkbox
            key={plot.id}
            size="xs"
            label={plot.title}
            checked={isPlotShown(choices, plot)}
            onChange={({ currentTarget: { checked } }) =>
              plotChoices.update((old) => ({ ...old, [plot.id]: checked }))
            }
          />
        ))}
      </Stack>
    </Popover.Dropdown>
  </Popover>
)
