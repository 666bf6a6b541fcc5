import { lazyRouteComponent } from '@tanstack/react-router'
import { IconSettings } from '../base/icons.tsx'
import type { NavigationEntry } from '../platform/platform.ts'
import { shellPage } from '../platform/root-routes.tsx'
import { t } from '../texts/texts.ts'

export const settingsRoutes = [
  shellPage(
    '/settings',
    lazyRouteComponent(() => import('./settings.page.tsx'), 'SettingsPage'),
  ),
  // The settings link to it, the navigation does not.
  shellPage(
    '/settings/webhooks/$webhookId',
    lazyRouteComponent(() => import('../webhooks/webhook.page.tsx'), 'WebhookPage'),
  ),
] as const

export const settingsNavigation: readonly NavigationEntry[] = [
  {
    to: '/settings',
    label: t('common.settings'),
    description: t('settings.navigation.description'),
    icon: IconSettings,
  },
]
