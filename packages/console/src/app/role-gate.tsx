import { Group } from '@mantine/core'
import { useMatches } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { useMe } from '../auth/me.ts'
import { t } from '../texts/texts.ts'
import { LinkButton } from '../ui/links.tsx'
import { Page } from '../ui/page.tsx'
import { Empty } from '../ui/states.tsx'
import type { NavigationEntry } from './navigation.ts'
import { usePlatform } from './platform.ts'

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
export function RoleGate({ children }: { children: ReactNode }) {
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
