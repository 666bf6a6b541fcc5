import { Badge, Button, Group, Paper, Progress, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { answerOf } from '@wheelhouse/sdk'
import { keys } from '../api/keys.ts'
import { usePlatform } from '../app/platform.ts'
import { ConfirmButton } from '../ui/confirm-button.tsx'
import { dataSize } from '../ui/format.ts'
import { Time } from '../ui/time.tsx'
import { useTicker } from '../ui/use-ticker.ts'
import { filterText, percentOf } from './export-texts.ts'
import { isUnfinished, type StoredExport, useRemoveExport } from './use-exports.ts'

const BYTES_PER_MB = 1_000_000
const EXPIRY_CHECK_MS = 20_000

const states = {
  PENDING: ['Waiting', 'blue.8'],
  RUNNING: ['Running', 'blue.8'],
  READY: ['Ready', 'teal.9'],
  FAILED: ['Failed', 'red.9'],
  EXPIRED: ['Expired', 'gray.7'],
} as const

interface Props {
  readonly stored: StoredExport
  /** Whether the address names this export. */
  readonly selected: boolean
  readonly onRemoved: () => void
}

/** Shows an export with its progress and its actions. */
export function ExportRow({ stored, selected, onRemoved }: Props) {
  useTicker(EXPIRY_CHECK_MS)
  const { id, format, status, created_at, expires_at, error } = stored
  const expired = Date.parse(expires_at) <= Date.now()
  const [label, color] = states[expired ? 'EXPIRED' : status]
  const heading = `export-${id}`
  return (
    <Paper
      component="li"
      withBorder
      p="sm"
      data-export={id}
      aria-labelledby={heading}
      {...(selected && { style: { borderColor: 'var(--mantine-primary-color-filled)' } })}
    >
      <Group justify="space-between" align="flex-start">
        <Stack gap={4} miw={0} flex="1 1 240px">
          <Group gap="xs">
            <Text fw={600} id={heading}>
              {format.toUpperCase()} export
            </Text>
            <Badge color={color} variant="filled" style={{ flexShrink: 0 }}>
              {label}
            </Badge>
          </Group>
          <Text size="sm">
            <Filter filter={stored.filter} />
          </Text>
          {error && (
            <Text size="sm" c="var(--mantine-color-error)">
              {error}
            </Text>
          )}
          <Size stored={stored} />
          <Text size="sm" c="dimmed">
            Created <Time at={created_at} />
            {', '}
            {expired ? 'expired' : 'expires'} <Time at={expires_at} />
          </Text>
        </Stack>
        <Group gap="xs">
          {status === 'READY' && !expired && (
            <Button
              component="a"
              href={`/api/session-exports/${id}/download`}
              download
              size="xs"
              aria-label={`Download: ${format.toUpperCase()} export`}
            >
              Download
            </Button>
          )}
          <RemoveButton stored={stored} onRemoved={onRemoved} />
        </Group>
      </Group>
    </Paper>
  )
}

/** Shows the rows and the size, with a progress bar until the export is finished. */
function Size({ stored }: { stored: StoredExport }) {
  const { format, rows, total_rows, bytes } = stored
  const size = dataSize(bytes / BYTES_PER_MB)
  if (!isUnfinished(stored)) {
    return (
      <Text size="sm">
        {rows.toLocaleString()} sessions, {size}
      </Text>
    )
  }
  return (
    <>
      <Progress value={percentOf(stored)} aria-label={`Progress of the ${format.toUpperCase()} export`} />
      <Text size="sm">
        {rows.toLocaleString()} of {total_rows.toLocaleString()} sessions, {size} so far
      </Text>
    </>
  )
}

function Filter({ filter }: Pick<StoredExport, 'filter'>) {
  const { rest } = usePlatform()
  const { robotId } = filter
  const found = useQuery({
    queryKey: [...keys.robots, 'of-sessions', robotId],
    queryFn: () => answerOf(rest.GET('/api/session-robots', { params: { query: { robotId } } })),
    enabled: robotId !== undefined,
  })
  return filterText(filter, found.data?.robots[0]?.name)
}

function RemoveButton({ stored, onRemoved }: Omit<Props, 'selected'>) {
  const remove = useRemoveExport(stored.id)
  const running = isUnfinished(stored)
  const action = running ? 'Cancel' : 'Remove'
  const name = `${stored.format.toUpperCase()} export`
  return (
    <ConfirmButton
      size="xs"
      variant="default"
      question={`${action} the ${name}?`}
      consequence={
        running ? 'The sessions written so far are deleted.' : 'Its file is deleted at the platform.'
      }
      confirmLabel={`${action} export`}
      dismissLabel="Keep"
      onConfirm={async () => {
        await remove.mutateAsync()
        onRemoved()
      }}
      aria-label={`${action}: ${name}`}
    >
      {action}
    </ConfirmButton>
  )
}
