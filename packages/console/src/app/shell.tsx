import { Box, Group, Stack, Text, VisuallyHidden } from '@mantine/core'
import { useDisclosure, useMediaQuery, useWindowEvent } from '@mantine/hooks'
import { Link, Outlet, useLocation, useMatches } from '@tanstack/react-router'
import { ApiError } from '@wheelhouse/sdk'
import { type ComponentProps, Fragment, lazy, type ReactNode, Suspense, useEffect, useState } from 'react'
import { Brand } from '../base/brand.tsx'
import { shortList } from '../base/format.ts'
import { IconDots, IconHome } from '../base/icons.tsx'
import { LinkButton } from '../base/links.tsx'
import { Page } from '../base/page.tsx'
import { Empty, Loading, Problem } from '../base/states.tsx'
import { NotificationBell } from '../notifications/bell.tsx'
import {
  chosenTeam,
  type Organization,
  OrganizationsContext,
  useOrganizations,
} from '../platform/organization.ts'
import { MeContext, rolesIn, useMe, usePlatform } from '../platform/platform.ts'
import { keys } from '../platform/queries.ts'
import { useRead } from '../platform/rest.ts'
import { ConnectionBadge } from '../status/connection-badge.tsx'
import { organizationRoleTexts, roleTexts } from '../texts/code-texts.ts'
import { t } from '../texts/texts.ts'
import { type NavigationEntry, navigation, useNavigation } from './navigation.ts'
import { OrganizationSwitch } from './organization-switch.tsx'
import styles from './shell.module.css'
import { SignInAgain, SignInPage } from './sign-in.tsx'

// Parts of the header that the first view can do without for a moment.
const MoreDrawer = lazy(() => import('./more-drawer.tsx'))
const PaletteLauncher = lazy(() => import('./palette-launcher.tsx'))
const DrivingBar = lazy(() => import('../operator/driving-bar.tsx'))

export const Shell = () => (
  <SignedInOnly>
    <Frame />
  </SignedInOnly>
)

function Frame() {
  // Links and pictures of this window would act for what another one has chosen.
  useWindowEvent('focus', () => chosenTeam() !== chosen && location.reload())
  return <Layout />
}

const Layout = () => (
  <div className={styles.shell}>
    <a className="skip-link" href="#main">
      {t('app.shell.skip')}
    </a>
    {useMediaQuery(WIDE, undefined, { getInitialValueInEffect: false }) ? <Side /> : <Phone />}
    <main id="main" tabIndex={-1} className={styles.main}>
      {/* Above every page: the operator's open session. */}
      <Suspense>{useMe().roles.includes('operator') && <DrivingBar />}</Suspense>
      <RoleGate>
        <Outlet />
      </RoleGate>
    </main>
  </div>
)

/** Windows with space for the navigation beside the page; the same as in the style sheet. */
const WIDE = '(width >= 54em)'

const Side = () => (
  <header className={styles.side}>
    <HomeLink />
    <OrganizationSwitch />
    <Suspense fallback={<Box h={38} />}>
      <PaletteLauncher isWide />
    </Suspense>
    <Box component="nav" flex={1} mih={0} style={{ overflowY: 'auto' }} aria-label={t('app.shell.main')}>
      <Navigation />
    </Box>
    <Stack gap="xs">
      <Group justify="space-between" gap="xs" mih="2.25rem" pl="0.65rem" pr="0.25rem" fz="sm">
        <ConnectionBadge />
        <NotificationBell />
      </Group>
      <AccountButton />
    </Stack>
  </header>
)

/** Entries of the bar of a phone, next to the home page. The last place opens all others. */
const TABS = 3

function Phone() {
  const [opened, { open, close }] = useDisclosure(false)
  const { pathname } = useLocation()
  // biome-ignore lint/correctness/useExhaustiveDependencies: a page change closes the navigation
  useEffect(close, [pathname])
  const entries = useNavigation().flatMap((group) => group.entries)
  return (
    <>
      <header className={styles.top}>
        <HomeLink />
        <ConnectionBadge />
        <Suspense>
          <PaletteLauncher />
        </Suspense>
        <NotificationBell />
        <OrganizationSwitch />
      </header>
      <nav className={styles.tabs} aria-label={t('app.shell.main')}>
        <HomeEntry />
        {entries.slice(0, TABS).map((entry) => (
          <Entry key={entry.to} {...entry} />
        ))}
        <button type="button" className={styles.entry} onClick={open}>
          <IconDots size={20} />
          <span>{t('app.shell.more')}</span>
        </button>
      </nav>
      <Suspense>
        {opened && (
          <MoreDrawer onClose={close}>
            <Navigation />
            <AccountButton />
          </MoreDrawer>
        )}
      </Suspense>
    </>
  )
}

const HomeLink = () => (
  <Link to="/" className={styles.brand ?? ''}>
    <Brand name={t('common.product')} />
  </Link>
)

const HomeEntry = () => <Entry to="/" label={t('common.home')} icon={IconHome} />

const Entry = ({ to, label, icon: Icon }: Omit<NavigationEntry, 'description' | 'action'>) => (
  // Pages below these two have their own links.
  <Link to={to} className={styles.entry} activeOptions={{ exact: to === '/' || to === '/admin' }}>
    <Icon size={18} stroke={1.75} />
    <span>{label}</span>
  </Link>
)

function Navigation() {
  const groups = useNavigation()
  // Titles tell roles apart; a user with one role knows it.
  const hasTitles = groups.filter(({ title }) => title !== '').length > 2
  return (
    <Stack gap={2}>
      <HomeEntry />
      {groups.map(({ title, entries }) => (
        <Fragment key={title}>
          {hasTitles && title && (
            <Text fz="xs" fw={550} c="var(--text-3)" px="0.65rem" pt="0.9rem" pb="0.25rem">
              {title}
            </Text>
          )}
          {entries.map((entry) => (
            <Entry key={entry.to} {...entry} />
          ))}
        </Fragment>
      ))}
    </Stack>
  )
}

// Most users see neither of these pages.
const Onboarding = lazy(() => import('../settings/onboarding.page.tsx'))
const SuspendedPage = lazy(() => import('./suspended.tsx'))

/** Shows its children to a signed-in user with a complete account, otherwise the sign-in or onboarding page. */
function SignedInOnly({ children }: { children: ReactNode }) {
  const { session, live } = usePlatform()
  const profile = useRead(keys.profile, (rest) => rest.GET('/api/auth/profile'))
  const mine = useRead(keys.organizations, (rest) => rest.GET('/api/organizations'))
  const me = profile.data
  const organizations = me && organizationsOf(me, mine.data?.organizations)
  const actingFor = organizations?.acting.id
  useEffect(() => {
    if (!me || actingFor === undefined) return
    session.enter(me.id, actingFor)
    live.connect()
  }, [me, actingFor, session, live])
  useOwnSubscription(me?.id)
  const path = useLocation().pathname

  if (me && organizations) {
    const { acting, isTeam } = organizations
    // An invited person need not own robots or drive for others.
    const isComplete = me.onboarded || isTeam || path.endsWith('/invitation')
    return (
      <MeContext value={isTeam ? { ...me, roles: rolesIn(acting, me.roles) } : me}>
        <OrganizationsContext value={organizations}>
          {isComplete ? (
            children
          ) : (
            <Suspense fallback={<Loading />}>
              <Box component="header" maw="24rem">
                <OrganizationSwitch />
              </Box>
              <Onboarding />
            </Suspense>
          )}
          <SignInAgain />
        </OrganizationsContext>
      </MeContext>
    )
  }
  if (me && mine.error) return <Problem error={mine.error} onRetry={() => void mine.refetch()} />
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

/** The choice when the page began: another window may change it meanwhile. */
const chosen = chosenTeam()

/**
 * Returns the organizations of a user. The personal one need not be loaded first; undefined until that which the page acts for is
 * known.
 */
function organizationsOf(
  me: { readonly id: string; readonly display_name: string; readonly created_at: string },
  all: readonly Organization[] | undefined,
) {
  const { id, display_name: name, created_at } = me
  const team = { group_ids: null, robots_per_supervisor: 8, created_at }
  const personal = { id, name, kind: 'personal', role: 'owner', ...team } as const
  const isTeam = chosen !== undefined && chosen !== id
  const acting = isTeam ? all?.find((organization) => organization.id === chosen) : personal
  return acting && { acting, isTeam, all: all ?? [personal] }
}

const texts = {
  operator: { title: t('app.roleGate.operatorTitle'), body: t('app.roleGate.operatorText') },
  client: { title: t('app.roleGate.ownerTitle'), body: t('app.roleGate.ownerText') },
}

/**
 * Renders the page if the user has its role, which follows from the navigation. Without the role the page would send
 * requests that all fail. Pages for admins have their own notice, because no user can add that role.
 */
function RoleGate({ children }: { children: ReactNode }) {
  const { roles } = useMe()
  const { acting, isTeam } = useOrganizations()
  const allowed = useNavigation().flatMap((group) => group.entries)
  const path = useMatches({ select: (matches) => matches.at(-1)?.fullPath ?? '/' })
  const isOf = ({ to }: NavigationEntry) => path === to || path.startsWith(`${to}/`)
  const { group, entries } = navigation.find(({ entries }) => entries.some(isOf)) ?? {}
  const entry = entries?.find(isOf)
  if (!entry) return children
  if (isTeam && !allowed.some(isOf)) {
    const role = organizationRoleTexts[acting.role]
    return (
      <Page title={entry.label}>
        <Empty title={t('app.roleGate.teamTitle')}>
          {t('app.roleGate.teamText', { role, team: acting.name })}
        </Empty>
      </Page>
    )
  }
  if ((group !== 'operator' && group !== 'client') || roles.includes(group)) return children
  return (
    <Page title={entry.label}>
      <Empty
        title={texts[group].title}
        action={
          <Group>
            <LinkButton to="/settings">{t('app.roleGate.settings')}</LinkButton>
            <LinkButton to="/" variant="default">
              {t('common.goHome')}
            </LinkButton>
          </Group>
        }
      >
        {texts[group].body}
      </Empty>
    </Page>
  )
}

/** Renders a page for signed-in users that fills the window. */
export const FullWindow = () => (
  <SignedInOnly>
    <Box component="main" p="md">
      <RoleGate>
        <Outlet />
      </RoleGate>
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

const importMenu = () => import('./user-menu.tsx')
const UserMenu = lazy(importMenu)

/** Shows who is signed in, and loads the account menu when it is first opened. */
function AccountButton() {
  const [isMenu, setMenu] = useState(false)
  if (!isMenu) return <Face onClick={() => setMenu(true)} onPointerEnter={() => void importMenu()} />
  return (
    <Suspense fallback={<Face />}>
      <UserMenu>
        <Face />
      </UserMenu>
    </Suspense>
  )
}

function Face(button: ComponentProps<'button'>) {
  const me = useMe()
  const { acting, isTeam } = useOrganizations()
  return (
    <button type="button" {...button} className={styles.entry} style={{ width: '100%', textAlign: 'start' }}>
      <VisuallyHidden>{t('app.userMenu.label', { name: me.display_name })}</VisuallyHidden>
      <span className={styles.avatar} aria-hidden="true">
        {me.avatar_url === null ? initials(me.display_name) : <img src={me.avatar_url} alt="" />}
      </span>
      <Text
        span
        inherit
        lh={1.25}
        c="var(--mantine-color-text)"
        style={{ overflowWrap: 'anywhere' }}
        aria-hidden="true"
      >
        {me.display_name}
        <Text fz="xs" c="dimmed" component="small" display="block">
          {isTeam
            ? t('app.organization.role', { role: organizationRoleTexts[acting.role], team: acting.name })
            : shortList.format(me.roles.map((role) => roleTexts[role]))}
        </Text>
      </Text>
    </button>
  )
}

/** Returns the first letters of the first and the last word. */
function initials(name: string): string {
  const words = name.split(/\s+/).filter((word) => word !== '')
  const [first = '', last = ''] = [words[0], words.length > 1 ? words.at(-1) : '']
  return `${[...first][0] ?? ''}${[...last][0] ?? ''}`.toUpperCase()
}
