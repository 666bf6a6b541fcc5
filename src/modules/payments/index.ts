export { createPayments } from './module.ts'
export { onboardingPage } from './onboarding-page.ts'
export { paymentEndpoints } from './payment.routes.ts'
