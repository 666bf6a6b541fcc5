/** Accounts of the demo. The built-in identity provider signs each in with one click. */
export const demoAccounts = [
  { email: 'owner@demo.local', name: 'Olive Owner', hint: 'client: owns the two demo robots', admin: false },
  {
    email: 'operator@demo.local',
    name: 'Pat Pilot',
    hint: 'operator: certified to drive them',
    admin: false,
  },
  { email: 'admin@demo.local', name: 'Ada Admin', hint: 'admin: decides on certifications', admin: true },
] as const
