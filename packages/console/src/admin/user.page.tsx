import { Alert, Badge, Group, Text } from '@mantine/core'
import { useParams } from '@tanstack/react-router'
import { ConfirmButton } from '../base/confirm-button.tsx'
import { DescriptionList, PlainList, RowTable, wrapped } from '../base/data-table.tsx'
import { LinkAnchor, LinkButton, SessionLink } from '../base/links.tsx'
import { Page } from '../base/page.tsx'
import { ResourcePage, Section } from '../base/section.tsx'
import { Time } from '../base/time.tsx'
import { useMe } from '../platform/platform.ts'
import { keys } from '../platform/queries.ts'
import { useAction } from '../platform/rest.ts'
import { RobotStatusLabel } from '../robots/robot-status.tsx'
import { SessionStatusLabel } from '../status/session-status.tsx'
import { certificationStatusTexts, roleTexts } from '../texts/code-texts.ts'
import { textParts } from '../texts/text-parts.tsx'
import { language, t } from '../texts/texts.ts'
import { AdminPage, RevokeButton, type User, useUser } from './admin-page.tsx'

export function UserPage() {
  const { roles } = useMe()
  return roles.includes('admin') ? <UserById /> : <AdminPage title={t('admin.person.kind')}>{null}</AdminPage>
}

function UserById() {
  const { userId } = useParams({ from: '/shell/admin/users/$userId' })
  const query = useUser(userId)
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
        <SuspensionButton user={user} />
      </>
    }
  >
    {user.suspension && (
      <Alert
        color="red.9"
        variant="light"
        title={t('admin.person.suspended')}
        style={{ overflowWrap: 'anywhere' }}
      >
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
    <DescriptionList
      cols={{ base: 1, xs: 2, md: 4 }}
      items={{
        [t('admin.person.email')]: emailText(user),
        [t('admin.person.joined')]: <Time at={user.created_at} />,
        [t('admin.person.lastSeen')]:
          user.last_seen_at === null ? t('admin.person.never') : <Time at={user.last_seen_at} />,
        [t('admin.person.apiKeys')]: user.api_keys.toLocaleString(language),
        [t('admin.person.openSession')]: <OpenSession session={user.open_session} />,
        [t('admin.person.sessions')]: (
          <LinkAnchor to="/admin/sessions" search={{ search: user.id }} inherit>
            {t('admin.person.allSessions')}
          </LinkAnchor>
        ),
      }}
    />
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
      <SessionLink id={session.id} inherit name={session.robot_name} />
      <SessionStatusLabel status={session.status} />
    </Group>
  )
}

const Robots = ({ user: { id, robots, robot_count } }: { user: User }) => (
  <Section title={t('admin.person.robots')}>
    <PlainList rows={robots} gap="xs">
      {({ name, status }) => (
        <>
          {name} <RobotStatusLabel status={status} />
        </>
      )}
    </PlainList>
    <div>
      <LinkAnchor to="/admin/robots" search={{ search: id }}>
        {t('admin.person.allRobots')}
      </LinkAnchor>{' '}
      <Badge color="gray.7">{robot_count.toLocaleString(language)}</Badge>
    </div>
  </Section>
)

/** The roles that admins remove and restore. The configuration names the admins. */
const changeable = {
  operator: {
    removal: (name: string) => t('admin.roles.removeOperator', { name }),
    return: (name: string) => t('admin.roles.restoreOperator', { name }),
  },
  client: {
    removal: (name: string) => t('admin.roles.removeOwner', { name }),
    return: (name: string) => t('admin.roles.restoreOwner', { name }),
  },
} as const
type Changeable = keyof typeof changeable

function UserRoles({ user }: { user: User }) {
  const { roles, removed_roles } = user
  const known = (Object.keys(changeable) as Changeable[]).filter(
    (role) => roles.includes(role) || removed_roles.includes(role),
  )
  return (
    <Section title={t('admin.roles.title')}>
      {roles.includes('admin') && (
        <Text>
          {textParts('admin.roles.configured', { role: <Badge color="blue.9">{roleTexts.admin}</Badge> })}
        </Text>
      )}
      {known.map((role) => (
        <Group key={role} gap="xs">
          <Badge color={roles.includes(role) ? 'teal.9' : 'gray.7'}>{roleTexts[role]}</Badge>
          {!roles.includes(role) && <Text size="sm">{t('admin.roles.removed')}</Text>}
          <RoleButton user={user} role={role} />
        </Group>
      ))}
      {roles.length === 0 && known.length === 0 && <Text c="dimmed">{t('admin.roles.none')}</Text>}
    </Section>
  )
}

function RoleButton({ user, role }: { user: User; role: Changeable }) {
  const { id, display_name: name } = user
  const params = { path: { id, role } }
  const remove = useAction(
    (rest) => rest.DELETE('/api/admin/users/{id}/roles/{role}', { params }),
    keys.users,
  )
  const restore = useAction((rest) => rest.POST('/api/admin/users/{id}/roles/{role}', { params }), keys.users)
  return user.roles.includes(role) ? (
    <ConfirmButton
      size="compact-sm"
      question={changeable[role].removal(name)}
      consequence={t('admin.roles.removeConsequence', { name })}
      confirmLabel={t('admin.roles.remove')}
      onConfirm={() => remove()}
      aria-label={t('admin.roles.removeLabel', { role: roleTexts[role] })}
    />
  ) : (
    <ConfirmButton
      size="compact-sm"
      question={changeable[role].return(name)}
      consequence={t('admin.roles.restoreConsequence', { name })}
      confirmLabel={t('admin.roles.restore')}
      confirmColor="teal.9"
      onConfirm={() => restore()}
      aria-label={t('admin.roles.restoreLabel', { role: roleTexts[role] })}
    />
  )
}

/** Suspends a user with a reason, or ends the suspension. Admins cannot suspend themselves. */
function SuspensionButton({ user: { id, display_name: name, suspension } }: { user: User }) {
  const params = { path: { id } }
  const suspend = useAction(
    (rest, reason: string) => rest.POST('/api/admin/users/{id}/suspend', { params, body: { reason } }),
    keys.users,
  )
  const restore = useAction((rest) => rest.POST('/api/admin/users/{id}/restore', { params }), keys.users)
  const isSelf = useMe().id === id
  if (suspension)
    return (
      <ConfirmButton
        color="teal.9"
        question={t('admin.suspension.restoreQuestion', { name })}
        consequence={t('admin.suspension.restoreConsequence', { name })}
        confirmLabel={t('admin.suspension.restore')}
        onConfirm={() => restore()}
      />
    )
  return isSelf ? null : (
    <ConfirmButton
      color="red.9"
      asksReason
      question={t('admin.suspension.suspendQuestion', { name })}
      consequence={t('admin.suspension.suspendConsequence', { name })}
      confirmLabel={t('admin.suspension.suspend')}
      onConfirm={suspend}
    />
  )
}

/** Lists the certifications of a user. Approved ones have a revoke button. */
const UserCertifications = ({ user: { certifications, display_name } }: { user: User }) => (
  <Section title={t('admin.certifications.title')}>
    {certifications.length === 0 ? (
      <Text c="dimmed">{t('admin.certifications.none')}</Text>
    ) : (
      <RowTable
        label={t('admin.certifications.title')}
        minWidth={560}
        rows={certifications}
        columns={[
          [t('admin.certifications.robotType'), ({ robot_type }) => robot_type],
          [t('admin.certifications.status'), ({ status }) => certificationStatusTexts[status]],
          [t('admin.certifications.reason'), ({ reason }) => reason, { style: wrapped }],
          [t('admin.certifications.requested'), ({ requested_at: at }) => <Time at={at} />],
          [t('admin.certifications.decided'), ({ decided_at: at }) => at && <Time at={at} />],
          [
            '',
            (row) =>
              row.status === 'APPROVED' && (
                <RevokeButton certification={{ ...row, operator_name: display_name }} />
              ),
          ],
        ]}
      />
    )}
  </Section>
)
