import type { ToolSpec } from './tool.ts'

/** Tools for datasets, invoices, prices and statistics. */
export const reportTools: readonly ToolSpec[] = [
  { name: 'list_datasets', title: 'List datasets', route: 'GET /api/client/datasets', listField: 'datasets' },
  {
    name: 'list_episodes',
    title: 'List episodes of a dataset',
    route: 'GET /api/client/datasets/{id}/episodes',
    id: 'datasetId',
    limit: 10,
  },
  { name: 'list_invoices', title: 'List invoices', route: 'GET /api/client/invoices', listField: 'invoices' },
  {
    name: 'get_invoice',
    title: 'Read an invoice',
    route: 'GET /api/client/invoices/{id}',
    id: 'invoiceId',
    limit: 20,
  },
  { name: 'get_pricing', title: 'Read prices', route: 'GET /api/public/pricing' },
  { name: 'get_client_statistics', title: 'Statistics for owners', route: 'GET /api/client/stats' },
  { name: 'get_operator_statistics', title: 'Statistics for operators', route: 'GET /api/operator/stats' },
  { name: 'get_platform_statistics', title: 'Statistics of the platform', route: 'GET /api/stats' },
  { name: 'get_overview', title: 'Overview, for admins', route: 'GET /api/admin/overview' },
  { name: 'list_users', title: 'Find users, for admins', route: 'GET /api/admin/users', limit: 10 },
]

/** Tools with which admins suspend and restore users. Clients ask their user for confirmation before both. */
export const suspensionTools: readonly ToolSpec[] = [
  {
    name: 'suspend_user',
    title: 'Suspend a user',
    route: 'POST /api/admin/users/{id}/suspend',
    id: 'userId',
    description: 'Ends all access of a user at once. The robot that the user drives halts.',
    hints: { destructive: true, openWorld: true },
  },
  {
    name: 'restore_user',
    title: 'End the suspension of a user',
    route: 'POST /api/admin/users/{id}/restore',
    id: 'userId',
    hints: { destructive: true, openWorld: true },
  },
]

/** Tools for the schedule and the certifications of an operator. */
export const operatorTools: readonly ToolSpec[] = [
  { name: 'get_schedule', title: 'Read your schedule', route: 'GET /api/operator/schedule' },
  {
    name: 'replace_schedule',
    title: 'Replace your schedule',
    route: 'POST /api/operator/schedule',
    description:
      'Replaces your whole weekly schedule: omitted slots are removed. Read it with get_schedule first.',
    hints: { destructive: true, idempotent: true },
  },
  {
    name: 'get_availability',
    title: 'Check whether you could work now',
    route: 'GET /api/operator/availability',
  },
  {
    name: 'list_certifications',
    title: 'List your certifications',
    route: 'GET /api/operator/certifications',
    listField: 'certifications',
  },
  {
    name: 'request_certification',
    title: 'Apply for a certification',
    route: 'POST /api/operator/certifications',
    hints: { openWorld: true },
  },
]

/** Tools for the profile and the notifications of the caller. */
export const profileTools: readonly ToolSpec[] = [
  { name: 'get_profile', title: 'Read your profile', route: 'GET /api/auth/profile' },
  { name: 'search', title: 'Search robots, sessions and users', route: 'GET /api/search' },
  { name: 'list_notifications', title: 'List notifications', route: 'GET /api/notifications', limit: 10 },
  {
    name: 'mark_notifications_read',
    title: 'Mark notifications as read',
    route: 'POST /api/notifications/read',
    hints: { idempotent: true },
  },
]
