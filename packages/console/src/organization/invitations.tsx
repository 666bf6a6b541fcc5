import { Button, Group, Modal, Stack, TextInput } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import type { Schemas } from '@wheelhouse/sdk'
import { ConfirmButton } from '../base/confirm-button.tsx'
import { RowTable, type TableColumn } from '../base/data-table.tsx'
import { DialogButtons, Form, useFields } from '../base/form.tsx'
import { Empty, Note, Problem, QueryView } from '../base/states.tsx'
import { Time } from '../base/time.tsx'
import { keys } from '../platform/queries.ts'
import { useAction, useRead, useWrite } from '../platform/rest.ts'
import { organizationRoleTexts } from '../texts/code-texts.ts'
import { textParts } from '../texts/text-parts.tsx'
import { t } from '../texts/texts.ts'
import { groupIdsOf, type Rights, RightsFields } from './fields.tsx'
import { GroupNames } from './members.tsx'
import { useAccept, useRoutes } from './organization.ts'

type Invitation = Schemas['OpenInvitation']

/** Mails leave within seconds. */
const POLL_MS = 5_000

export function Invitations() {
  const { key, route } = useRoutes()
  const [opened, { open, close }] = useDisclosure(false)
  const query = useRead(
    [...key, 'invitations'],
    (rest) => rest.GET('/api/organizations/{id}/invitations', route),
    {
      refetchInterval: ({ state }) =>
        state.data?.invitations.some(({ delivered_at }) => delivered_at === null) ? POLL_MS : false,
    },
  )
  return (
    <Stack>
      <Group justify="space-between">
        <Note>{t('organization.invitations.note')}</Note>
        <Button variant="default" onClick={open}>
          {t('organization.invitations.invite')}
        </Button>
      </Group>
      <Invite opened={opened} onClose={close} />
      <QueryView
        query={query}
        isEmpty={({ invitations }) => invitations.length === 0}
        empty={<Empty title={t('organization.invitations.none')} />}
      >
        {({ invitations }) => (
          <RowTable
            label={t('organization.invitations.title')}
            minWidth={640}
            columns={columns}
            rows={invitations}
          />
        )}
      </QueryView>
    </Stack>
  )
}

const columns: readonly TableColumn<Invitation>[] = [
  [t('organization.invitations.email'), ({ email }) => email, { style: { overflowWrap: 'anywhere' } }],
  [t('organization.members.role'), ({ role }) => organizationRoleTexts[role]],
  [t('organization.members.groups'), ({ group_ids }) => <GroupNames ids={group_ids} />],
  [
    t('organization.invitations.mail'),
    ({ delivered_at: at }) =>
      at === null
        ? t('organization.invitations.notSent')
        : textParts('organization.invitations.sent', { time: <Time at={at} /> }),
  ],
  [t('organization.invitations.expires'), ({ expires_at }) => <Time at={expires_at} />],
  [t('organization.members.actions'), (invitation) => <Revoke invitation={invitation} />],
]

function Revoke({ invitation: { id: invitation_id, email } }: { invitation: Invitation }) {
  const { id, key } = useRoutes()
  const params = { path: { id, invitation_id } }
  const revoke = useAction(
    (rest) => rest.DELETE('/api/organizations/{id}/invitations/{invitation_id}', { params }),
    key,
  )
  return (
    <ConfirmButton
      size="xs"
      question={t('organization.invitations.revokeQuestion', { email })}
      consequence={t('organization.invitations.revokeConsequence')}
      confirmLabel={t('organization.invitations.revoke')}
      onConfirm={() => revoke()}
      aria-label={t('organization.invitations.revokeLabel', { email })}
    />
  )
}

const empty: Rights & { readonly email: string } = { email: '', role: 'operator', groupIds: [] }

function Invite({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  const { key, route } = useRoutes()
  const invite = useWrite(
    (rest, { email, ...rights }: typeof empty) =>
      rest.POST('/api/organizations/{id}/invitations', {
        ...route,
        body: { email: email.trim(), role: rights.role, groupIds: groupIdsOf(rights) },
      }),
    { refresh: [key], onSuccess: onClose },
  )
  const { values, setValues, field, errors, change } = useFields(empty, invite.error)
  const forget = () => {
    invite.reset()
    setValues(empty)
  }
  return (
    <Modal
      opened={opened}
      onClose={onClose}
      onExitTransitionEnd={forget}
      title={t('organization.invitations.invite')}
    >
      <Form onSubmit={() => invite.mutate(values)}>
        <TextInput
          label={t('organization.invitations.email')}
          description={t('organization.invitations.emailNote')}
          type="email"
          required
          data-autofocus
          {...field('email')}
        />
        <RightsFields values={values} change={change} />
        {!errors && <Problem error={invite.error} />}
        <DialogButtons onCancel={onClose} loading={invite.isPending}>
          {t('organization.invitations.send')}
        </DialogButtons>
      </Form>
    </Modal>
  )
}

/** Queries the invitations to the verified address of the user. */
export const useReceived = () => useRead(keys.invitations, (rest) => rest.GET('/api/invitations'))

/** Shows the invitations to the verified address of the user, each with a button that accepts it. */
export function Received() {
  const query = useReceived()
  const accept = useAccept()
  return (
    <Stack>
      <QueryView
        query={query}
        isEmpty={({ invitations }) => invitations.length === 0}
        empty={<Note>{t('organization.received.none')}</Note>}
      >
        {({ invitations }) =>
          invitations.map(({ id, organization_name: team, role, expires_at }) => (
            <Group key={id} justify="space-between">
              <div style={{ overflowWrap: 'anywhere' }}>
                {t('organization.received.invitation', { team, role: organizationRoleTexts[role] })}
                <Note>
                  {textParts('organization.received.until', { time: <Time at={expires_at} exact /> })}
                </Note>
              </div>
              <Button
                variant="default"
                loading={accept.isPending && accept.variables === id}
                onClick={() => accept.mutate(id)}
                aria-label={t('organization.received.acceptLabel', { team })}
              >
                {t('organization.received.accept')}
              </Button>
            </Group>
          ))
        }
      </QueryView>
      <Problem error={accept.error} />
    </Stack>
  )
}
