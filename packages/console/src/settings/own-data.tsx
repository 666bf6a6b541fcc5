import { Button, Group, List, Modal, Stack, Text, TextInput } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import type { Schemas } from '@wheelhouse/sdk'
import { DialogButtons, Form, useFields } from '../base/form.tsx'
import { dataSize } from '../base/format.ts'
import { Note, Problem, QueryView } from '../base/states.tsx'
import { Time, useTicker } from '../base/time.tsx'
import { ExportRow } from '../list/export-row.tsx'
import { forgetTeam } from '../platform/organization.ts'
import { useMe } from '../platform/platform.ts'
import { keys } from '../platform/queries.ts'
import { useRead, useWrite } from '../platform/rest.ts'
import { textParts } from '../texts/text-parts.tsx'
import { t } from '../texts/texts.ts'

type DataExport = Schemas['DataExport']

const BYTES_PER_MB = 1_000_000
const POLL_MS = 2_000
const EXPIRY_CHECK_MS = 20_000

const isUnfinished = ({ status }: DataExport) => status === 'PENDING' || status === 'RUNNING'

/** Exports everything that the platform holds about the person. */
export function OwnData() {
  const query = useRead(keys.dataExports, (rest) => rest.GET('/api/auth/data-exports'), {
    refetchInterval: ({ state }) => (state.data?.exports.some(isUnfinished) ? POLL_MS : false),
  })
  const start = useWrite((rest) => rest.POST('/api/auth/data-export'), { refresh: [keys.dataExports] })
  return (
    <Stack>
      <Group justify="space-between">
        <Note maw={640}>{t('settings.ownData.note')}</Note>
        <Button
          variant="default"
          loading={start.isPending}
          disabled={query.data?.exports.some(isUnfinished) ?? false}
          onClick={() => start.mutate()}
        >
          {t('settings.ownData.start')}
        </Button>
      </Group>
      <Problem error={start.error} />
      <QueryView query={query} isEmpty={({ exports }) => exports.length === 0}>
        {({ exports }) => (
          <Stack component="ul" gap="xs" p={0} m={0} aria-label={t('settings.ownData.exports')}>
            {exports.map((stored) => (
              <StoredData key={stored.id} stored={stored} />
            ))}
          </Stack>
        )}
      </QueryView>
    </Stack>
  )
}

const states = {
  PENDING: [t('exports.states.pending'), 'request'],
  RUNNING: [t('exports.states.running'), 'request'],
  READY: [t('exports.states.ready'), 'off'],
  FAILED: [t('exports.states.failed'), 'delayed'],
  EXPIRED: [t('exports.states.expired'), 'off'],
} as const

function StoredData({ stored }: { stored: DataExport }) {
  useTicker(EXPIRY_CHECK_MS)
  const { id, status, rows, bytes, error, created_at, expires_at } = stored
  const isExpired = Date.parse(expires_at) <= Date.now()
  return (
    <ExportRow
      id={id}
      name={t('settings.ownData.name')}
      state={states[isExpired ? 'EXPIRED' : status]}
      progress={undefined}
      error={error}
      dates={textParts(isExpired ? 'exports.row.createdExpired' : 'exports.row.created', {
        created: <Time at={created_at} />,
        expires: <Time at={expires_at} />,
      })}
      actions={
        status === 'READY' &&
        !isExpired && (
          <Button component="a" href={`/api/auth/data-exports/${id}/download`} download size="xs">
            {t('exports.row.download')}
          </Button>
        )
      }
    >
      <Text size="sm">
        {t('settings.ownData.size', { count: rows, size: dataSize(bytes / BYTES_PER_MB) })}
      </Text>
    </ExportRow>
  )
}

/** Deletes the account, after a confirmation by name. */
export function DeleteAccount() {
  const me = useMe()
  const [opened, { open, close }] = useDisclosure(false)
  const remove = useWrite(
    (rest, confirm: string) => rest.DELETE('/api/auth/account', { body: { confirm } }),
    {
      onSuccess: () => {
        forgetTeam()
        location.assign('/')
      },
    },
  )
  const { values, setValues, field, errors } = useFields({ confirm: '' }, remove.error)
  const forget = () => {
    remove.reset()
    setValues({ confirm: '' })
  }
  return (
    <Group justify="space-between">
      <Note maw={640}>{t('settings.deleteAccount.note')}</Note>
      <Button variant="default" onClick={open}>
        {t('settings.deleteAccount.open')}
      </Button>
      <Modal
        opened={opened}
        onClose={close}
        onExitTransitionEnd={forget}
        title={t('settings.deleteAccount.question')}
      >
        <Form onSubmit={() => remove.mutate(values.confirm)}>
          <Text>{t('settings.deleteAccount.ends')}</Text>
          <Text>{t('settings.deleteAccount.kept')}</Text>
          <List size="sm">
            <List.Item>{t('settings.deleteAccount.keptMoney')}</List.Item>
            <List.Item>{t('settings.deleteAccount.keptSessions')}</List.Item>
            <List.Item>{t('settings.deleteAccount.keptRecordings')}</List.Item>
            <List.Item>{t('settings.deleteAccount.keptAudit')}</List.Item>
          </List>
          <TextInput
            label={t('settings.deleteAccount.confirm')}
            description={t('settings.deleteAccount.confirmNote', { name: me.email ?? me.display_name })}
            autoComplete="off"
            required
            data-autofocus
            {...field('confirm')}
          />
          {!errors && <Problem error={remove.error} />}
          <DialogButtons
            onCancel={close}
            color="red.9"
            loading={remove.isPending || remove.isSuccess}
            disabled={values.confirm.trim() === ''}
          >
            {t('settings.deleteAccount.open')}
          </DialogButtons>
        </Form>
      </Modal>
    </Group>
  )
}
