import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import type { NavigationEntry } from '../platform/platform.ts'
import { shellRoute } from '../platform/root-routes.tsx'
import { t } from '../texts/texts.ts'
import { IconSettings } from '../ui/icons.tsx'

export const settingsRoutes = [
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/settings',
    component: lazyRouteComponent(() => import('./settings.page.tsx'), 'SettingsPage'),
  }),
] as const

export const settingsNavigation: readonly NavigationEntry[] = [
  {
    to: '/settings',
    label: t('common.settings'),
    description: t('settings.navigation.description'),
    icon: IconSettings,
  },
]
