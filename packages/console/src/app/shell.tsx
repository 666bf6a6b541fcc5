import { AppShell, Box, Burger, Group, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { Outlet, useLocation, useMatches } from '@tanstack/react-router'
import { ApiError, answerOf } from '@wheelhouse/sdk'
import { lazy, type ReactNode, Suspense, useEffect } from 'react'
import { IconHome } from '../base/icons.tsx'
import { LinkAnchor, LinkButton, LinkNav } from '../base/links.tsx'
import { Page } from '../base/page.tsx'
import { Empty, Loading, Problem } from '../base/states.tsx'
import { NotificationBell } from '../notifications/bell.tsx'
import { MeContext, type NavigationEntry, useMe, useNavigation, usePlatform } from '../platform/platform.ts'
import { keys } from '../platform/queries.ts'
import { ConnectionBadge } from '../status/connection-badge.tsx'
import { t } from '../texts/texts.ts'
import { SignInAgain, SignInPage } from './sign-in.tsx'

// Parts of the header that the first view can do without for a moment.
const UserMenu = lazy(() => import('./user-menu.tsx'))
const PaletteLauncher = lazy(() => import('./palette-launcher.tsx'))
const DrivingBar = lazy(() => import('../operator/driving-bar.tsx'))

/** Renders header, navigation and page for signed-in users. */
export const Shell = () => (
  <SignedInOnly>
    <Frame />
  </SignedInOnly>
)

function Frame() {
  const [opened, { toggle, close }] = useDisclosure(false)
  const { pathname } = useLocation()
  // biome-ignore lint/correctness/useExhaustiveDependencies: a page change closes the mobile navigation
  useEffect(close, [pathname])
  return (
    <AppShell
      header={{ height: 60 }}
      navbar={{ width: 240, breakpoint: 'sm', collapsed: { mobile: !opened } }}
      padding="md"
    >
      <a className="skip-link" href="#main">
        {t('app.shell.skip')}
      </a>
      <AppShell.Header>
        <Group h="100%" px="md" justify="space-between" wrap="nowrap">
          <Group wrap="nowrap" gap="sm">
            <Burger
              opened={opened}
              onClick={toggle}
              hiddenFrom="sm"
              size="sm"
              aria-label={t('app.shell.navigation')}
            />
            <LinkAnchor to="/" underline="never" c="inherit" fw={700} visibleFrom="xs">
              {t('common.product')}
            </LinkAnchor>
          </Group>
          <Group wrap="nowrap" gap="sm">
            <Suspense>
              <PaletteLauncher />
            </Suspense>
            <ConnectionBadge />
            <NotificationBell />
            <Suspense fallback={<Box w={38} />}>
              <UserMenu />
            </Suspense>
          </Group>
        </Group>
      </AppShell.Header>
      <AppShell.Navbar p="xs" aria-label={t('app.shell.main')}>
        <Navigation />
      </AppShell.Navbar>
      <AppShell.Main id="main" tabIndex={-1}>
        <OpenSessionBar />
        <RoleGate>
          <Outlet />
        </RoleGate>
      </AppShell.Main>
    </AppShell>
  )
}

/** Shows the operator's open session above every page. */
function OpenSessionBar() {
  const { roles } = useMe()
  return <Suspense>{roles.includes('operator') && <DrivingBar />}</Suspense>
}

const Navigation = () => (
  <AppShell.Section grow style={{ overflowY: 'auto' }}>
    <LinkNav
      to="/"
      label={t('common.home')}
      leftSection={<IconHome size={18} stroke={1.5} />}
      activeOptions={{ exact: true }}
    />
    {useNavigation().map(({ title, entries }) => (
      <div key={title}>
        {title && (
          <Text size="sm" c="dimmed" px="sm" pt="md" pb={4}>
            {title}
          </Text>
        )}
        {entries.map(({ to, label, icon: Icon, exact = false }) => (
          <LinkNav
            key={to}
            to={to}
            label={label}
            leftSection={<Icon size={18} stroke={1.5} />}
            activeOptions={{ exact }}
          />
        ))}
      </div>
    ))}
  </AppShell.Section>
)

// Most users see neither of these pages.
const Onboarding = lazy(() => import('../settings/onboarding.page.tsx'))
const SuspendedPage = lazy(() => import('./suspended.tsx'))

/** Shows its children to a signed-in user with a complete account, otherwise the sign-in or onboarding page. */
function SignedInOnly({ children }: { children: ReactNode }) {
  const { rest, session, live } = usePlatform()
  const profile = useQuery({
    queryKey: keys.profile,
    queryFn: () => answerOf(rest.GET('/api/auth/profile')),
  })
  const me = profile.data
  useEffect(() => {
    if (!me) return
    session.enter(me.id)
    live.connect()
  }, [me, session, live])
  useOwnSubscription(me?.id)

  if (me) {
    return (
      <MeContext value={me}>
        {me.onboarded ? (
          children
        ) : (
          <Suspense fallback={<Loading />}>
            <Onboarding />
          </Suspense>
        )}
        <SignInAgain />
      </MeContext>
    )
  }
  if (profile.error instanceof ApiError && profile.error.status === 401) return <SignInPage />
  if (profile.error instanceof ApiError && profile.error.code === 'account_suspended')
    return (
      <Suspense fallback={<Loading />}>
        <SuspendedPage message={profile.error.message} />
      </Suspense>
    )
  if (profile.error) return <Problem error={profile.error} onRetry={() => void profile.refetch()} />
  return <Loading />
}

type GatedRole = 'operator' | 'client'

const texts: Record<GatedRole, { title: string; body: string }> = {
  operator: {
    title: t('app.roleGate.operatorTitle'),
    body: t('app.roleGate.operatorText'),
  },
  client: {
    title: t('app.roleGate.ownerTitle'),
    body: t('app.roleGate.ownerText'),
  },
}

/**
 * Renders the page if the user has its role, which follows from the navigation. Without the role the page would send
 * requests that all fail. Pages for admins have their own notice, because no user can add that role.
 */
function RoleGate({ children }: { children: ReactNode }) {
  const { navigation } = usePlatform()
  const { roles } = useMe()
  const path = useMatches({ select: (matches) => matches.at(-1)?.fullPath ?? '/' })
  const entry = navigation.find(({ to }) => path === to || path.startsWith(`${to}/`))
  const role = missingRole(entry, roles)
  if (!entry || !role) return children
  return (
    <Page title={entry.label}>
      <Empty
        title={texts[role].title}
        action={
          <Group>
            <LinkButton to="/settings">{t('app.roleGate.settings')}</LinkButton>
            <LinkButton to="/" variant="default">
              {t('common.goHome')}
            </LinkButton>
          </Group>
        }
      >
        {texts[role].body}
      </Empty>
    </Page>
  )
}

function missingRole(entry: NavigationEntry | undefined, roles: readonly string[]): GatedRole | undefined {
  if (entry?.role === undefined || entry.role === 'admin') return undefined
  return roles.includes(entry.role) ? undefined : entry.role
}

/** Renders a page for signed-in users that fills the window. */
export const FullWindow = () => (
  <SignedInOnly>
    <Box component="main" p="md">
      <Outlet />
    </Box>
  </SignedInOnly>
)

/** Ensures that this browser shows no notifications of a user who was signed in before. @param userId of the signed-in user */
function useOwnSubscription(userId: string | undefined): void {
  const { rest } = usePlatform()
  useEffect(() => {
    if (userId === undefined) return
    // Loaded after the first view.
    import('../push/browser-push.ts')
      .then(({ dropForeignSubscription }) => dropForeignSubscription(rest))
      .catch((cause: unknown) => console.warn('push:', cause))
  }, [userId, rest])
}
