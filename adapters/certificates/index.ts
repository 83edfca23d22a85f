/** Certificates of cars: the hub's certificate authority, and enrolment over HTTPS (EST, RFC 7030). */
export { CertificateAuthority } from './authority.ts';
export { newEnrolmentToken, readEnrolmentToken, tokenDigest } from './enrolment-token.ts';
export { type CarIdentity, enrol, fetchAuthority, fetchSettings, hubTime, newCarKey, renew } from './est-client.ts';
export { type EnrolmentDesk, EstServer, type EstServerOptions } from './est-server.ts';
