import { AppShell, Box, Burger, Group, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { Outlet, useLocation } from '@tanstack/react-router'
import { lazy, Suspense, useEffect } from 'react'
import { useMe } from '../auth/me.ts'
import { ConnectionBadge } from '../live/connection-badge.tsx'
import { NotificationBell } from '../notifications/bell.tsx'
import { t } from '../texts/texts.ts'
import { IconHome } from '../ui/icons.tsx'
import { LinkAnchor, LinkNav } from '../ui/links.tsx'
import { RoleGate } from './role-gate.tsx'
import { SignedInOnly } from './signed-in-only.tsx'
import { useNavigation } from './use-navigation.ts'

// Parts of the header that the first view can do without for a moment.
const UserMenu = lazy(() => import('./user-menu.tsx'))
const PaletteLauncher = lazy(() => import('./palette/palette-launcher.tsx'))
const DrivingBar = lazy(() => import('../drive/driving-bar.tsx'))

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
