import { Button, Checkbox, Group, Modal, Select, Stack, Text, TextInput } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import type { Schemas } from '@wheelhouse/sdk'
import { ConfirmButton } from '../base/confirm-button.tsx'
import { CopyableSecret } from '../base/copyable.tsx'
import { RowTable, type TableColumn } from '../base/data-table.tsx'
import { DialogButtons, Form, useFields } from '../base/form.tsx'
import { shortList } from '../base/format.ts'
import { LinkAnchor } from '../base/links.tsx'
import { Empty, Note, Problem, QueryView } from '../base/states.tsx'
import { Time } from '../base/time.tsx'
import { useAction, useRead, useWrite } from '../platform/rest.ts'
import { t } from '../texts/texts.ts'
import { useRoutes } from './organization.ts'

type Grant = Schemas['DataGrant']
type DataScope = Grant['scopes'][number]

const scopeTexts: Readonly<Record<DataScope, string>> = {
  recordings: t('organization.grants.recordings'),
  datasets: t('organization.grants.datasets'),
  log: t('organization.grants.log'),
  health: t('organization.grants.health'),
}
const scopeOptions = Object.keys(scopeTexts) as DataScope[]

const scopesOf = ({ scopes }: Grant) => shortList.format(scopes.map((scope) => scopeTexts[scope]))
const endOf = ({ expires_at: at }: Grant) => (at ? <Time at={at} /> : t('organization.grants.untilRevoked'))

/** Queries the access to data of robots that the organization has given and received. */
function useGrants() {
  const { key, route } = useRoutes()
  return useRead([...key, 'grants'], (rest) => rest.GET('/api/organizations/{id}/grants', route))
}

/** Shows the access to data of robots that the organization has given and received, and the id by which others give it some. */
export function DataGrants() {
  const { id } = useRoutes()
  return (
    <Stack>
      <Note maw={640}>{t('organization.grants.note')}</Note>
      <QueryView query={useGrants()}>
        {({ given, received }) => (
          <>
            {given.length === 0 ? (
              <Empty title={t('organization.grants.noneGiven')} />
            ) : (
              <RowTable
                label={t('organization.grants.given')}
                minWidth={640}
                columns={givenColumns}
                rows={given}
              />
            )}
            {received.length > 0 && (
              <RowTable
                label={t('organization.grants.received')}
                minWidth={560}
                columns={receivedColumns}
                rows={received}
              />
            )}
          </>
        )}
      </QueryView>
      <CopyableSecret label={t('organization.grants.ownId')} value={id} />
    </Stack>
  )
}

const commonColumns: readonly TableColumn<Grant>[] = [
  [t('organization.grants.data'), scopesOf],
  [t('organization.invitations.expires'), endOf],
]
const toColumn: TableColumn<Grant> = [
  t('organization.grants.to'),
  ({ to_organization_name }) => to_organization_name,
  { style: { overflowWrap: 'anywhere' } },
]
const revokeColumn: TableColumn<Grant> = [
  t('organization.members.actions'),
  (grant) => <RevokeGrant grant={grant} />,
]
const givenColumns: readonly TableColumn<Grant>[] = [
  [
    t('organization.grants.robot'),
    ({ robot_id, robot_name }) => (
      <LinkAnchor to="/robots/$robotId" params={{ robotId: robot_id }} search={{ tab: 'data' }}>
        {robot_name}
      </LinkAnchor>
    ),
    { style: { overflowWrap: 'anywhere' } },
  ],
  toColumn,
  ...commonColumns,
  revokeColumn,
]
const receivedColumns: readonly TableColumn<Grant>[] = [
  [
    t('organization.grants.receivedRobot'),
    ({ robot_id, robot_name, scopes }) =>
      scopes.includes('recordings') ? (
        <LinkAnchor to="/recordings" search={{ robot: robot_id }}>
          {robot_name}
        </LinkAnchor>
      ) : (
        robot_name
      ),
    { style: { overflowWrap: 'anywhere' } },
  ],
  [t('organization.grants.from'), ({ organization_name }) => organization_name],
  ...commonColumns,
]

function RevokeGrant({ grant }: { grant: Grant }) {
  const { id, key } = useRoutes()
  const params = { path: { id, grant_id: grant.id } }
  const revoke = useAction(
    (rest) => rest.DELETE('/api/organizations/{id}/grants/{grant_id}', { params }),
    key,
  )
  const names = { robot: grant.robot_name, organization: grant.to_organization_name }
  return (
    <ConfirmButton
      size="xs"
      question={t('organization.grants.revokeQuestion', names)}
      consequence={t('organization.grants.revokeConsequence')}
      confirmLabel={t('organization.invitations.revoke')}
      onConfirm={() => revoke()}
      aria-label={t('organization.grants.revokeLabel', names)}
    />
  )
}

/** Shows who may read the data of a robot, and grants it to another organization. */
export function RobotGrants({ robotId }: { robotId: string }) {
  const [opened, { open, close }] = useDisclosure(false)
  return (
    <Stack>
      <Group justify="space-between">
        <Note maw={640}>{t('organization.grants.robotNote')}</Note>
        <Button variant="default" onClick={open}>
          {t('organization.grants.grant')}
        </Button>
      </Group>
      <NewGrant robotId={robotId} opened={opened} onClose={close} />
      <QueryView query={useGrants()}>
        {({ given }) => {
          const rows = given.filter(({ robot_id }) => robot_id === robotId)
          if (rows.length === 0) return <Empty title={t('organization.grants.nobody')} />
          const columns = [toColumn, ...commonColumns, revokeColumn]
          return (
            <RowTable label={t('organization.grants.given')} minWidth={560} columns={columns} rows={rows} />
          )
        }}
      </QueryView>
    </Stack>
  )
}

const DAY_MS = 86_400_000
const NEVER = 'never'
const lifetimes = [
  ...[30, 90, 365].map((days) => ({ value: String(days), label: t('settings.newApiKey.days', { days }) })),
  { value: NEVER, label: t('organization.grants.untilRevoked') },
]
const empty: { readonly to_organization_id: string; readonly scopes: string[]; readonly days: string } = {
  to_organization_id: '',
  scopes: [],
  days: '90',
}

function NewGrant(props: { robotId: string; opened: boolean; onClose: () => void }) {
  const { robotId, opened, onClose } = props
  const { key, route } = useRoutes()
  const grant = useWrite(
    (rest, { to_organization_id, scopes, days }: typeof empty) =>
      rest.POST('/api/organizations/{id}/grants', {
        ...route,
        body: {
          robot_id: robotId,
          to_organization_id: to_organization_id.trim().toLowerCase(),
          scopes: scopeOptions.filter((scope) => scopes.includes(scope)),
          expires_at: days === NEVER ? null : new Date(Date.now() + Number(days) * DAY_MS).toISOString(),
        },
      }),
    { refresh: [key], onSuccess: onClose },
  )
  const { values, setValues, field, errors, change } = useFields(empty, grant.error)
  const forget = () => {
    grant.reset()
    setValues(empty)
  }
  return (
    <Modal
      opened={opened}
      onClose={onClose}
      onExitTransitionEnd={forget}
      title={t('organization.grants.grant')}
    >
      <Form onSubmit={() => grant.mutate(values)}>
        <TextInput
          label={t('organization.grants.organizationId')}
          description={t('organization.grants.organizationIdNote')}
          required
          data-autofocus
          {...field('to_organization_id')}
        />
        <Checkbox.Group
          label={t('organization.grants.data')}
          value={values.scopes}
          onChange={(scopes) => change({ scopes })}
          required
        >
          <Stack gap="xs" mt="xs">
            {scopeOptions.map((scope) => (
              <Checkbox key={scope} value={scope} label={scopeTexts[scope]} />
            ))}
          </Stack>
        </Checkbox.Group>
        {values.scopes.includes('recordings') && (
          <Text size="sm">{t('organization.grants.recordingsNote')}</Text>
        )}
        <Select
          label={t('settings.newApiKey.lifetime')}
          data={lifetimes}
          allowDeselect={false}
          {...field('days')}
          onChange={(days) => change({ days: days ?? '90' })}
        />
        {!errors && <Problem error={grant.error} />}
        <DialogButtons onCancel={onClose} loading={grant.isPending} disabled={values.scopes.length === 0}>
          {t('organization.grants.confirm')}
        </DialogButtons>
      </Form>
    </Modal>
  )
}
