import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { IconSettings } from '../base/icons.tsx'
import type { NavigationEntry } from '../platform/platform.ts'
import { shellRoute } from '../platform/root-routes.tsx'
import { t } from '../texts/texts.ts'

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
