import { Badge, Button, Group, Paper, Progress, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { answerOf } from '@wheelhouse/sdk'
import { usePlatform } from '../platform/platform.ts'
import { keys } from '../platform/queries.ts'
import { textParts } from '../texts/text-parts.tsx'
import { t } from '../texts/texts.ts'
import { ConfirmButton } from '../ui/confirm-button.tsx'
import { dataSize } from '../ui/format.ts'
import { Time, useTicker } from '../ui/time.tsx'
import { filterText, percentOf } from './export-texts.ts'
import { isUnfinished, type StoredExport, useRemoveExport } from './use-exports.ts'

const BYTES_PER_MB = 1_000_000
const EXPIRY_CHECK_MS = 20_000

const states = {
  PENDING: [t('exports.states.pending'), 'blue.8'],
  RUNNING: [t('exports.states.running'), 'blue.8'],
  READY: [t('exports.states.ready'), 'teal.9'],
  FAILED: [t('exports.states.failed'), 'red.9'],
  EXPIRED: [t('exports.states.expired'), 'gray.7'],
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
  const { id, status, created_at, expires_at, error } = stored
  const format = stored.format.toUpperCase()
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
              {t('exports.row.name', { format })}
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
            {textParts(expired ? 'exports.row.createdExpired' : 'exports.row.created', {
              created: <Time at={created_at} />,
              expires: <Time at={expires_at} />,
            })}
          </Text>
        </Stack>
        <Group gap="xs">
          {status === 'READY' && !expired && (
            <Button
              component="a"
              href={`/api/session-exports/${id}/download`}
              download
              size="xs"
              aria-label={t('exports.row.downloadLabel', { format })}
            >
              {t('exports.row.download')}
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
  const { rows, total_rows: total, bytes } = stored
  const format = stored.format.toUpperCase()
  const size = dataSize(bytes / BYTES_PER_MB)
  if (!isUnfinished(stored)) {
    return <Text size="sm">{t('exports.row.size', { rows, size })}</Text>
  }
  return (
    <>
      <Progress value={percentOf(stored)} aria-label={t('exports.row.progressLabel', { format })} />
      <Text size="sm">{t('exports.row.progress', { rows, total, size })}</Text>
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
  const format = stored.format.toUpperCase()
  return (
    <ConfirmButton
      size="xs"
      variant="default"
      question={t(running ? 'exports.cancel.question' : 'exports.remove.question', { format })}
      consequence={t(running ? 'exports.cancel.consequence' : 'exports.remove.consequence')}
      confirmLabel={t(running ? 'exports.cancel.confirm' : 'exports.remove.confirm')}
      dismissLabel={t('exports.remove.keep')}
      onConfirm={async () => {
        await remove.mutateAsync()
        onRemoved()
      }}
      aria-label={t(running ? 'exports.cancel.label' : 'exports.remove.label', { format })}
    >
      {t(running ? 'exports.cancel.button' : 'exports.remove.button')}
    </ConfirmButton>
  )
}
