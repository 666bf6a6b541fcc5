export { onboardingPage } from './onboarding-page.ts'
export { paymentEndpoints } from './payment.routes.ts'
export { createPayments, type Payments } from './payments.ts'
