import { Alert, Badge, Group, Stack, Table, Text } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { answerOf } from '@wheelhouse/sdk'
import { ConfirmButton, ReasonButton } from '../base/confirm-button.tsx'
import { DataTable, DescriptionItem, DescriptionList } from '../base/data-table.tsx'
import { LinkAnchor, LinkButton } from '../base/links.tsx'
import { Page } from '../base/page.tsx'
import { ResourcePage, Section } from '../base/section.tsx'
import { Time } from '../base/time.tsx'
import { useMe, usePlatform } from '../platform/platform.ts'
import { keys } from '../platform/queries.ts'
import { RobotStatusLabel } from '../robots/robot-status.tsx'
import { SessionStatusLabel } from '../status/session-status.tsx'
import { certificationStatusTexts, roleTexts } from '../texts/code-texts.ts'
import { textParts } from '../texts/text-parts.tsx'
import { language, t } from '../texts/texts.ts'
import { AdminPage } from './admin-page.tsx'
import { type User, userQuery } from './queries.ts'
import { RevokeButton } from './revoke-button.tsx'

/** Shows a user to admins: account, roles, certifications, robots, open session; suspends and restores the user. */
export function UserPage() {
  const { roles } = useMe()
  return roles.includes('admin') ? <UserById /> : <AdminPage title={t('admin.person.kind')}>{null}</AdminPage>
}

function UserById() {
  const { rest } = usePlatform()
  const { userId } = useParams({ from: '/shell/admin/users/$userId' })
  const query = useQuery(userQuery(rest, userId))
  return (
    <ResourcePage
      query={query}
      kind={t('admin.person.kind')}
      back={<LinkButton to="/admin/users">{t('admin.person.all')}</LinkButton>}
    >
      {(user) => <View user={user} />}
    </ResourcePage>
  )
}

const View = ({ user }: { user: User }) => (
  <Page
    title={user.display_name}
    actions={
      <>
        <LinkButton to="/admin/audit" search={{ subject: user.id }} variant="default">
          {t('admin.person.auditLog')}
        </LinkButton>
        {user.suspension ? <RestoreButton user={user} /> : <SuspendButton user={user} />}
      </>
    }
  >
    {user.suspension && (
      <Alert color="red.9" title={t('admin.person.suspended')} style={{ overflowWrap: 'anywhere' }}>
        <Time at={user.suspension.at} />: {user.suspension.reason}
      </Alert>
    )}
    <Account user={user} />
    <UserRoles user={user} />
    <UserCertifications user={user} />
    {user.robot_count > 0 && <Robots user={user} />}
  </Page>
)

const Account = ({ user }: { user: User }) => (
  <Section title={t('admin.person.account')}>
    <DescriptionList cols={{ base: 1, xs: 2, md: 4 }}>
      <DescriptionItem label={t('admin.person.email')}>{emailText(user)}</DescriptionItem>
      <DescriptionItem label={t('admin.person.joined')}>
        <Time at={user.created_at} />
      </DescriptionItem>
      <DescriptionItem label={t('admin.person.lastSeen')}>
        {user.last_seen_at === null ? t('admin.person.never') : <Time at={user.last_seen_at} />}
      </DescriptionItem>
      <DescriptionItem label={t('admin.person.apiKeys')}>
        {user.api_keys.toLocaleString(language)}
      </DescriptionItem>
      <DescriptionItem label={t('admin.person.openSession')}>
        <OpenSession session={user.open_session} />
      </DescriptionItem>
      <DescriptionItem label={t('admin.person.sessions')}>
        <LinkAnchor to="/admin/sessions" search={{ search: user.id }} inherit>
          {t('admin.person.allSessions')}
        </LinkAnchor>
      </DescriptionItem>
    </DescriptionList>
  </Section>
)

function emailText({ email, email_verified }: User): string {
  if (email === null) return t('admin.person.noEmail')
  return email_verified ? email : t('admin.person.notVerified', { email })
}

function OpenSession({ session }: { session: User['open_session'] }) {
  if (session === null) return t('admin.person.noSession')
  return (
    <Group gap="xs">
      <LinkAnchor to="/sessions/$sessionId" params={{ sessionId: session.id }} inherit>
        {session.robot_name}
      </LinkAnchor>
      <SessionStatusLabel status={session.status} />
    </Group>
  )
}

const Robots = ({ user: { id, robots, robot_count } }: { user: User }) => (
  <Section title={t('admin.person.robots')}>
    <Stack component="ul" gap="xs" m={0} p={0} style={{ listStyle: 'none' }}>
      {robots.map((robot) => (
        <li key={robot.id}>
          {robot.name} <RobotStatusLabel status={robot.status} />
        </li>
      ))}
    </Stack>
    <div>
      <LinkAnchor to="/admin/robots" search={{ search: id }}>
        {t('admin.person.allRobots')}
      </LinkAnchor>{' '}
      <Badge color="gray.7">{robot_count.toLocaleString(language)}</Badge>
    </div>
  </Section>
)

/** The roles that admins remove and restore. The configuration names the admins. */
const changeable = ['operator', 'client'] as const
type Changeable = (typeof changeable)[number]

const removeQuestions: Record<Changeable, (name: string) => string> = {
  operator: (name) => t('admin.roles.removeOperator', { name }),
  client: (name) => t('admin.roles.removeOwner', { name }),
}
const restoreQuestions: Record<Changeable, (name: string) => string> = {
  operator: (name) => t('admin.roles.restoreOperator', { name }),
  client: (name) => t('admin.roles.restoreOwner', { name }),
}

/** Shows the roles of a user, and removes and restores them. */
function UserRoles({ user }: { user: User }) {
  const { roles, removed_roles } = user
  const known = changeable.filter((role) => roles.includes(role) || removed_roles.includes(role))
  return (
    <Section title={t('admin.roles.title')}>
      {roles.includes('admin') && (
        <Text>
          {textParts('admin.roles.configured', {
            role: <Badge color="blue.9">{roleTexts.admin}</Badge>,
          })}
        </Text>
      )}
      {known.map((role) => (
        <Group key={role} gap="xs">
          <Badge color={roles.includes(role) ? 'teal.9' : 'gray.7'}>{roleTexts[role]}</Badge>
          {roles.includes(role) ? (
            <RemoveRole user={user} role={role} />
          ) : (
            <>
              <Text size="sm">{t('admin.roles.removed')}</Text>
              <RestoreRole user={user} role={role} />
            </>
          )}
        </Group>
      ))}
      {roles.length === 0 && known.length === 0 && <Text c="dimmed">{t('admin.roles.none')}</Text>}
    </Section>
  )
}

interface RoleProps {
  readonly user: User
  readonly role: Changeable
}

function RemoveRole({ user: { id, display_name: name }, role }: RoleProps) {
  const { rest } = usePlatform()
  const queries = useQueryClient()
  const remove = async () => {
    const params = { path: { id, role } }
    await answerOf(rest.DELETE('/api/admin/users/{id}/roles/{role}', { params }))
    await queries.invalidateQueries({ queryKey: keys.users })
  }
  return (
    <ConfirmButton
      size="compact-sm"
      variant="default"
      question={removeQuestions[role](name)}
      consequence={t('admin.roles.removeConsequence', { name })}
      confirmLabel={t('admin.roles.remove')}
      onConfirm={remove}
      aria-label={t('admin.roles.removeLabel', { role: roleTexts[role] })}
    >
      {t('admin.roles.remove')}
    </ConfirmButton>
  )
}

function RestoreRole({ user: { id, display_name: name }, role }: RoleProps) {
  const { rest } = usePlatform()
  const queries = useQueryClient()
  const restore = async () => {
    const params = { path: { id, role } }
    await answerOf(rest.POST('/api/admin/users/{id}/roles/{role}', { params }))
    await queries.invalidateQueries({ queryKey: keys.users })
  }
  return (
    <ConfirmButton
      size="compact-sm"
      variant="default"
      question={restoreQuestions[role](name)}
      consequence={t('admin.roles.restoreConsequence', { name })}
      confirmLabel={t('admin.roles.restore')}
      confirmColor="teal.9"
      onConfirm={restore}
      aria-label={t('admin.roles.restoreLabel', { role: roleTexts[role] })}
    >
      {t('admin.roles.restore')}
    </ConfirmButton>
  )
}

/** Suspends a user with a reason. Admins cannot suspend themselves. */
function SuspendButton({ user: { id, display_name: name } }: { user: User }) {
  const { rest } = usePlatform()
  const queries = useQueryClient()
  const me = useMe()
  if (me.id === id) return null
  const suspend = async (reason: string) => {
    const params = { path: { id } }
    await answerOf(rest.POST('/api/admin/users/{id}/suspend', { params, body: { reason } }))
    await queries.invalidateQueries({ queryKey: keys.users })
  }
  return (
    <ReasonButton
      color="red.9"
      question={t('admin.suspension.suspendQuestion', { name })}
      consequence={t('admin.suspension.suspendConsequence', { name })}
      confirmLabel={t('admin.suspension.suspend')}
      onConfirm={suspend}
    >
      {t('admin.suspension.suspend')}
    </ReasonButton>
  )
}

/** Ends the suspension of a user. */
function RestoreButton({ user: { id, display_name: name } }: { user: User }) {
  const { rest } = usePlatform()
  const queries = useQueryClient()
  const restore = async () => {
    await answerOf(rest.POST('/api/admin/users/{id}/restore', { params: { path: { id } } }))
    await queries.invalidateQueries({ queryKey: keys.users })
  }
  return (
    <ConfirmButton
      color="teal.9"
      question={t('admin.suspension.restoreQuestion', { name })}
      consequence={t('admin.suspension.restoreConsequence', { name })}
      confirmLabel={t('admin.suspension.restore')}
      confirmColor="teal.9"
      onConfirm={restore}
    >
      {t('admin.suspension.restore')}
    </ConfirmButton>
  )
}

const wrapped = { whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' } as const

/** Lists the certifications of a user. Approved ones have a revoke button. */
const UserCertifications = ({ user }: { user: User }) => (
  <Section title={t('admin.certifications.title')}>
    {user.certifications.length === 0 ? (
      <Text c="dimmed">{t('admin.certifications.none')}</Text>
    ) : (
      <DataTable
        label={t('admin.certifications.title')}
        minWidth={560}
        columns={[
          t('admin.certifications.robotType'),
          t('admin.certifications.status'),
          t('admin.certifications.reason'),
          t('admin.certifications.requested'),
          t('admin.certifications.decided'),
          '',
        ]}
      >
        {user.certifications.map((certification) => (
          <Table.Tr key={certification.id}>
            <Table.Td>{certification.robot_type}</Table.Td>
            <Table.Td>{certificationStatusTexts[certification.status]}</Table.Td>
            <Table.Td style={wrapped}>{certification.reason}</Table.Td>
            <Table.Td>
              <Time at={certification.requested_at} />
            </Table.Td>
            <Table.Td>{certification.decided_at && <Time at={certification.decided_at} />}</Table.Td>
            <Table.Td>
              {certification.status === 'APPROVED' && (
                <RevokeButton
                  certification={{
                    id: certification.id,
                    operator_name: user.display_name,
                    robot_type: certification.robot_type,
                  }}
                />
              )}
            </Table.Td>
          </Table.Tr>
        ))}
      </DataTable>
    )}
  </Section>
)
