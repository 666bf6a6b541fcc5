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

/** Chooses the plots. */
export const PlotMenu = ({ plots, choices }: { plots: readonly Plot[]; choices: Choices }) => (
  <Popover position="top-end" withinPortal>
    <Popover.Target>
      <Button size="xs" variant="default">
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
