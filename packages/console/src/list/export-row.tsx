import { Group, Paper, Progress, Stack, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import type { ShapeName } from '../status/shape-name.ts'
import { StateLabel } from '../status/state-label.tsx'

interface Props {
  readonly id: string
  readonly name: string
  readonly state: readonly [label: string, shape: ShapeName]
  /** How much of an unfinished export is written, in percent; undefined for a finished one. */
  readonly progress: { readonly percent: number; readonly label: string } | undefined
  readonly error: string | null
  /** When it was made, and for how long it is kept. */
  readonly dates: ReactNode
  readonly isSelected?: boolean
  readonly actions: ReactNode
  /** What it contains. */
  readonly children: ReactNode
}

/** Shows an export in a list, with its progress and its actions. */
export const ExportRow = (props: Props) => (
  <Paper
    component="li"
    withBorder
    p="sm"
    data-export={props.id}
    aria-labelledby={`export-${props.id}`}
    style={{
      listStyle: 'none',
      ...(props.isSelected && { borderColor: 'var(--mantine-primary-color-filled)' }),
    }}
  >
    <Group justify="space-between" align="flex-start">
      <Stack gap={4} miw={0} flex="1 1 260px">
        <Group gap="xs">
          <Text fw={600} id={`export-${props.id}`} style={{ overflowWrap: 'anywhere' }}>
            {props.name}
          </Text>
          <StateLabel shape={props.state[1]}>{props.state[0]}</StateLabel>
        </Group>
        {props.progress && <Progress value={props.progress.percent} aria-label={props.progress.label} />}
        {props.error && (
          <Text size="sm" c="var(--mantine-color-error)">
            {props.error}
          </Text>
        )}
        {props.children}
        <Text size="sm" c="dimmed">
          {props.dates}
        </Text>
      </Stack>
      <Group gap="xs">{props.actions}</Group>
    </Group>
  </Paper>
)
