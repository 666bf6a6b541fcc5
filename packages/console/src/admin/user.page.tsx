import { Alert, Badge, Group, Stack } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { useMe, usePlatform } from '../platform/platform.ts'
import { RobotStatusBadge } from '../robots/robot-status.tsx'
import { StatusBadge } from '../session/status-badge.tsx'
import { language, t } from '../texts/texts.ts'
import { DescriptionItem, DescriptionList } from '../ui/data-table.tsx'
import { LinkAnchor, LinkButton } from '../ui/links.tsx'
import { Page } from '../ui/page.tsx'
import { ResourcePage, Section } from '../ui/section.tsx'
import { Time } from '../ui/time.tsx'
import { AdminPage } from './admin-page.tsx'
import { RestoreButton, SuspendButton } from './suspension-buttons.tsx'
import { UserCertifications } from './user-certifications.tsx'
import { type User, userQuery } from './user-query.ts'
import { UserRoles } from './user-roles.tsx'

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
      <StatusBadge status={session.status} />
    </Group>
  )
}

const Robots = ({ user: { id, robots, robot_count } }: { user: User }) => (
  <Section title={t('admin.person.robots')}>
    <Stack component="ul" gap="xs" m={0} p={0} style={{ listStyle: 'none' }}>
      {robots.map((robot) => (
        <li key={robot.id}>
          {robot.name} <RobotStatusBadge status={robot.status} />
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
