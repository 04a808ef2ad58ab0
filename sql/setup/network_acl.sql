-- Lets the database ask a language model (generate.provider = "database"): run once by a DBA in the pluggable database,
-- on Autonomous Database as ADMIN.
--
--   sqlplus system@//dbhost:1521/FREEPDB1 @network_acl.sql
--
-- One user may connect to one port of one host, and keep credentials of its own; nothing else is opened. Can be run
-- again, also for a second host. To take it back: DBMS_NETWORK_ACL_ADMIN.REMOVE_HOST_ACE with the same arguments.
--
-- Four names, the user in upper case:
--   rag_user    calls UTL_TO_GENERATE_TEXT: whom ORACLE_USER names where questions are answered.
--   rag_host    the host of generate.base_url, in lower case.
--   rag_port    its port: 443 for https, 80 for http, where the address names none.
--   rag_wallet  file:/path/of/the/wallet/directory, only where the endpoint asks for a client certificate of it. That
--               a wallet trusts the endpoint's authority, which https needs, takes no permission.
WHENEVER OSERROR EXIT FAILURE
WHENEVER SQLERROR EXIT FAILURE
SET VERIFY OFF
DEFINE rag_user = RAG
DEFINE rag_host = api.openai.com
DEFINE rag_port = 443
DEFINE rag_wallet = NONE

GRANT CREATE CREDENTIAL TO &rag_user;

-- The privilege connect with a range of ports; resolve, which takes none, is not needed for a call over HTTP.
DECLARE
  found NUMBER;
BEGIN
  SELECT COUNT(*) INTO found FROM DBA_HOST_ACES
  WHERE HOST = '&rag_host' AND LOWER_PORT = &rag_port AND UPPER_PORT = &rag_port
    AND PRINCIPAL = '&rag_user' AND PRIVILEGE = 'CONNECT' AND GRANT_TYPE = 'GRANT';
  IF found = 0 THEN
    DBMS_NETWORK_ACL_ADMIN.APPEND_HOST_ACE(
      host       => '&rag_host',
      lower_port => &rag_port,
      upper_port => &rag_port,
      ace        => XS$ACE_TYPE(
        privilege_list => XS$NAME_LIST('connect'),
        principal_name => '&rag_user',
        principal_type => XS_ACL.PTYPE_DB));
  END IF;
END;
/

DECLARE
  found NUMBER;
BEGIN
  IF '&rag_wallet' <> 'NONE' THEN
    SELECT COUNT(*) INTO found FROM DBA_WALLET_ACES
    WHERE WALLET_PATH = '&rag_wallet' AND PRINCIPAL = '&rag_user' AND PRIVILEGE = 'USE_CLIENT_CERTIFICATES';
    IF found = 0 THEN
      DBMS_NETWORK_ACL_ADMIN.APPEND_WALLET_ACE(
        wallet_path => '&rag_wallet',
        ace         => XS$ACE_TYPE(
          privilege_list => XS$NAME_LIST('use_client_certificates'),
          principal_name => '&rag_user',
          principal_type => XS_ACL.PTYPE_DB));
    END IF;
  END IF;
END;
/

PROMPT Done. Next, as that user: credential.sql
EXIT
