import { lazyRouteComponent } from '@tanstack/react-router'
import { IconReceipt } from '../base/icons.tsx'
import type { NavigationEntry } from '../platform/platform.ts'
import { shellPage } from '../platform/root-routes.tsx'
import { t } from '../texts/texts.ts'

export const billingRoutes = [
  shellPage(
    '/invoices',
    lazyRouteComponent(() => import('./invoices.page.tsx'), 'InvoicesPage'),
  ),
  shellPage(
    '/invoices/$invoiceId',
    lazyRouteComponent(() => import('./invoices.page.tsx'), 'InvoicePage'),
  ),
] as const

export const billingNavigation: readonly NavigationEntry[] = [
  {
    to: '/invoices',
    label: t('billing.navigation.label'),
    description: t('billing.navigation.description'),
    icon: IconReceipt,
    role: 'client',
  },
]
