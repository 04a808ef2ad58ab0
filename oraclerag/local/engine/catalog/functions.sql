-- The functions that translated SQL calls. Loaded once, behind types.sql and before dictionary.sql.
-- Everywhere the empty string is NULL, numbers are numeric, and what Oracle refuses is refused with its number
-- (SQLSTATE OR000, the number in DETAIL).
-- Session settings: ora.user, ora.nls_date_format, ora.nls_timestamp_format, ora.nls_timestamp_tz_format,
-- ora.max_string_size (STANDARD, EXTENDED), and per key of a context ora.env_<key> and ora.context_<namespace>_<key>.

CREATE FUNCTION ora.usr() RETURNS ora.varchar2 LANGUAGE sql STABLE PARALLEL SAFE AS $$ SELECT current_setting('ora.user')::text::ora.varchar2 $$;
CREATE FUNCTION ora.uid() RETURNS numeric LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT coalesce((SELECT oid::int8 FROM pg_namespace WHERE ora.name_of(nspname) = current_setting('ora.user')), 0)::numeric $$;
CREATE FUNCTION ora.setting(name text, fallback text) RETURNS text LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT coalesce(nullif(current_setting(name, true), ''), fallback) $$;
CREATE FUNCTION ora.max_text() RETURNS int4 LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT CASE pg_catalog.upper(ora.setting('ora.max_string_size', 'STANDARD')) WHEN 'EXTENDED' THEN 32767 WHEN '32767' THEN 32767 ELSE 4000 END $$;

-- Raises inside a function of any type.
CREATE FUNCTION ora.fail(number int4, message text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION USING ERRCODE = 'OR000', DETAIL = number::text, MESSAGE = message;
END $$;

-- ---- Dates as text, by Oracle's format models.

-- The same format for PostgreSQL's to_char.
CREATE FUNCTION ora.pg_format(format text) RETURNS text LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
  rest text := format;
  piece text;
  result text := '';
  fill_mode text := '';
  last text := '';
BEGIN
  WHILE rest <> '' LOOP
    piece := substring(pg_catalog.upper(rest) FROM '^(?:"[^"]*"|(?:SSSSS|SYYYY|RRRR|RR|FF[1-9]|FF|TZR|TZD|TS|DL|DS|X|J|HH24|HH12|HH|MI|MM|MONTH|MON|SS|DDD|DD|DAY|DY|D|YYYY|YYY|YY|Y|IYYY|IW|WW|W|Q|CC|AM|PM|A\.M\.|P\.M\.|BC|AD|B\.C\.|A\.D\.|RM|TZH|TZM|FM|FX|TH|Y,YYY)|[-/,.;:\s])');
    IF rest ~* '^S?YEAR' OR piece IS NULL AND rest ~* '^(SPTH|THSP|SP|EE?|SCC|IYY|IY|I)' THEN
      PERFORM ora.fail(3001, 'unimplemented feature: the element ' || pg_catalog.upper(left(rest, 4)) || ' of a date format');
    ELSIF piece IS NULL THEN
      PERFORM ora.fail(1821, 'date format not recognized');
    END IF;
    piece := left(rest, length(piece));
    rest := substr(rest, length(piece) + 1);
    IF pg_catalog.upper(piece) = 'TH' THEN  -- in the case of what it belongs to
      result := result || CASE WHEN last = pg_catalog.upper(last) THEN 'TH' ELSE 'th' END;
      CONTINUE;
    END IF;
    last := piece;
    IF pg_catalog.upper(piece) = 'FM' THEN  -- for all that follows, where PostgreSQL asks for it before each element
      fill_mode := CASE fill_mode WHEN '' THEN 'FM' ELSE '' END;
      CONTINUE;
    END IF;
    result := result || CASE WHEN piece ~ '^[A-Za-z]' THEN fill_mode ELSE '' END || CASE pg_catalog.upper(piece)
      WHEN 'SYYYY' THEN 'YYYY' WHEN 'RRRR' THEN 'YYYY' WHEN 'RR' THEN 'YY' WHEN 'FF' THEN 'US' WHEN 'FF7' THEN 'US"0"'
      WHEN 'FF8' THEN 'US"00"' WHEN 'FF9' THEN 'US"000"' WHEN 'TZR' THEN 'TZH:TZM' WHEN 'TZD' THEN '' WHEN 'X' THEN '.' WHEN 'FX' THEN ''
      WHEN 'TS' THEN 'HH:MI:SS AM' WHEN 'DS' THEN 'FMMM/DD/RRRR' WHEN 'DL' THEN 'FMDay, Month DD, YYYY' ELSE piece END;
  END LOOP;
  RETURN result;
END $$;

CREATE FUNCTION ora.nls_date() RETURNS text LANGUAGE sql STABLE PARALLEL SAFE AS $$ SELECT ora.setting('ora.nls_date_format', 'DD-MON-RR') $$;
CREATE FUNCTION ora.nls_timestamp() RETURNS text LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT ora.setting('ora.nls_timestamp_format', 'DD-MON-RR HH.MI.SSXFF AM') $$;
CREATE FUNCTION ora.nls_timestamp_tz() RETURNS text LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT ora.setting('ora.nls_timestamp_tz_format', 'DD-MON-RR HH.MI.SSXFF AM TZR') $$;

-- Reads text by a format: missing punctuation is forgiven, missing trailing time parts too, nothing else.
CREATE FUNCTION ora.read_datetime(value text, format text, date_only boolean) RETURNS text LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE AS $$
DECLARE
  v text := ltrim(value);
  f text := format;
  e text;
  digits text;
  yr int4; mo int4; dy int4; hr int4; mi int4; sc int4;
  weekday int4; hour12 int4; half text; seconds_of_day int4; day_of_year int4; micro text := ''; zone text := '';
  months text[] := ARRAY['JAN', 'FEB', 'MAR', 'APR', 'MAY', 'JUN', 'JUL', 'AUG', 'SEP', 'OCT', 'NOV', 'DEC'];
  long_months text[] := ARRAY['JANUARY', 'FEBRUARY', 'MARCH', 'APRIL', 'MAY', 'JUNE', 'JULY', 'AUGUST', 'SEPTEMBER', 'OCTOBER', 'NOVEMBER', 'DECEMBER'];
  now_date date := (statement_timestamp() AT TIME ZONE 'UTC')::date;
  width int4;
BEGIN
  WHILE f <> '' LOOP
    IF f ~* '^FX' THEN
      PERFORM ora.fail(3001, 'unimplemented feature: the element FX of a date format');
    ELSIF f ~* '^(IW|WW|W|Q|S?CC|IYYY|IYY|IY|I|TS)' THEN
      PERFORM ora.fail(1820, 'format code cannot appear in date input format');
    END IF;
    e := substring(pg_catalog.upper(f) FROM '^(?:"[^"]*"|(?:FM|FX|SYYYY|YYYY|RRRR|RR|YYY|YY|Y|MONTH|MON|MM|DDD|DD|DAY|DY|D|HH24|HH12|HH|MI|SSSSS|SS|FF[1-9]?|AM|PM|A\.M\.|P\.M\.|TZH|TZM|TZR|TZD|X)|[-/,.;:\s]+)');
    IF e IS NULL THEN
      PERFORM ora.fail(1821, 'date format not recognized');
    END IF;
    f := substr(f, length(e) + 1);
    IF e IN ('FM', 'FX') THEN
      CONTINUE;
    ELSIF e ~ '^[-/,.;:\s]' OR e = 'X' THEN
      v := regexp_replace(v, CASE WHEN f ~* '^(?:TZH|TZR|SYYYY)' THEN '^(?:-(?![0-9])|[/,.;:\s])+' ELSE '^[-/,.;:\s]+' END, '');
      CONTINUE;
    ELSIF e LIKE '"%' THEN
      IF NOT starts_with(v, substring(e FROM 2 FOR length(e) - 2)) AND NOT starts_with(pg_catalog.upper(v), substring(e FROM 2 FOR length(e) - 2)) THEN
        PERFORM ora.fail(1861, 'literal does not match format string');
      END IF;
      v := substr(v, length(e) - 1);
      CONTINUE;
    END IF;
    v := ltrim(v);
    IF v = '' THEN
      IF e IN ('HH24', 'HH12', 'HH', 'MI', 'SS', 'SSSSS', 'AM', 'PM', 'A.M.', 'P.M.', 'TZH', 'TZM', 'TZR', 'TZD') OR e LIKE 'FF%' THEN
        CONTINUE;
      END IF;
      PERFORM ora.fail(1840, 'input value not long enough for date format');
    END IF;
    IF e IN ('MON', 'MONTH') THEN
      digits := pg_catalog.upper(substring(v FROM '^[A-Za-z]+'));
      mo := coalesce(array_position(long_months, digits), array_position(months, left(digits, 3)));
      IF digits IS NULL AND date_only THEN
        PERFORM ora.fail(1861, 'literal does not match format string');
      ELSIF mo IS NULL OR (array_position(long_months, digits) IS NULL AND e = 'MONTH' AND length(digits) > 3) THEN
        PERFORM ora.fail(1843, 'An invalid month was specified.');
      END IF;
      v := substr(v, CASE WHEN array_position(long_months, digits) IS NOT NULL THEN length(digits) ELSE 3 END + 1);
    ELSIF e IN ('DAY', 'DY') THEN
      digits := substring(v FROM '^[A-Za-z]+');
      weekday := array_position(ARRAY['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT'], left(pg_catalog.upper(digits), 3)) - 1;
      IF weekday IS NULL THEN
        PERFORM ora.fail(1846, 'not a valid day of the week');
      END IF;
      v := substr(v, length(digits) + 1);
    ELSIF e IN ('AM', 'PM', 'A.M.', 'P.M.') THEN
      half := pg_catalog.upper(substring(pg_catalog.upper(v) FROM '^(?:A\.M\.|P\.M\.|AM|PM)'));
      IF half IS NULL THEN
        PERFORM ora.fail(1855, 'AM/A.M. or PM/P.M. required');
      END IF;
      v := substr(v, length(half) + 1);
    ELSIF e IN ('TZR', 'TZD', 'TZH') THEN
      digits := substring(v FROM '^(?:[+-]?[0-9]{1,2}(?::[0-9]{2})?|[A-Za-z][A-Za-z0-9_/+-]*)');
      IF digits IS NULL THEN
        PERFORM ora.fail(1882, 'timezone region not found');
      END IF;
      IF e = 'TZH' THEN
        digits := substring(digits FROM '^[+-]?[0-9]{1,2}');
      END IF;
      v := substr(v, length(digits) + 1);
      zone := CASE WHEN e = 'TZD' THEN zone WHEN digits ~ '^[0-9]' THEN '+' || digits ELSE digits END;
    ELSE
      width := CASE WHEN e IN ('YYYY', 'SYYYY', 'RRRR') THEN 4 WHEN e = 'RR' THEN 4 WHEN e IN ('YYY', 'DDD') THEN 3 WHEN e IN ('Y', 'D') THEN 1
                    WHEN e = 'SSSSS' THEN 5 WHEN e LIKE 'FF%' THEN 9 ELSE 2 END;
      digits := substring(v FROM '^[+-]?[0-9]{1,' || width || '}');
      IF e = 'RR' AND length(digits) > 2 AND f ~* '^(?:MM|DD|HH|MI|SS)' THEN
        digits := left(digits, 2);
      END IF;
      IF digits IS NULL THEN
        IF e LIKE '%YY' OR e LIKE 'RR%' THEN
          PERFORM ora.fail(1841, '(full) year must be between -4713 and +9999, and not be 0');
        END IF;
        PERFORM ora.fail(1858, 'A non-numeric character was found instead of a numeric character.');
      END IF;
      v := substr(v, length(digits) + 1);
      CASE
        WHEN e IN ('YYYY', 'SYYYY') THEN yr := digits::int4;
        WHEN e IN ('RRRR', 'RR') THEN
          yr := CASE WHEN length(digits) > 2 THEN digits::int4 WHEN digits::int4 < 50 THEN 2000 + digits::int4 ELSE 1900 + digits::int4 END;
        WHEN e IN ('YYY', 'YY', 'Y') THEN yr := extract(year FROM now_date)::int4 / (10 ^ length(e))::int4 * (10 ^ length(e))::int4 + digits::int4;
        WHEN e = 'MM' THEN mo := digits::int4;
        WHEN e = 'DD' THEN dy := digits::int4;
        WHEN e = 'DDD' THEN day_of_year := digits::int4;
        WHEN e = 'HH24' THEN hr := digits::int4;
        WHEN e IN ('HH12', 'HH') THEN hour12 := digits::int4;
        WHEN e = 'MI' THEN mi := digits::int4;
        WHEN e = 'SS' THEN sc := digits::int4;
        WHEN e = 'SSSSS' THEN seconds_of_day := digits::int4;
        WHEN e = 'TZM' THEN zone := zone || ':' || digits;
        WHEN e LIKE 'FF%' THEN micro := '.' || left(digits, 6);
        ELSE NULL;
      END CASE;
    END IF;
  END LOOP;
  IF btrim(v) <> '' THEN
    PERFORM ora.fail(1830, 'date format picture ends before converting entire input string');
  END IF;
  yr := coalesce(yr, extract(year FROM now_date)::int4);
  mo := coalesce(mo, CASE WHEN day_of_year IS NULL THEN extract(month FROM now_date)::int4 ELSE 1 END);
  dy := coalesce(dy, 1);
  IF yr NOT BETWEEN 1 AND 9999 THEN
    PERFORM ora.fail(1841, '(full) year must be between -4713 and +9999, and not be 0');
  ELSIF mo NOT BETWEEN 1 AND 12 THEN
    PERFORM ora.fail(1843, 'An invalid month was specified.');
  ELSIF dy NOT BETWEEN 1 AND 31 THEN
    PERFORM ora.fail(1847, 'day of month must be between 1 and last day of month');
  ELSIF dy > extract(day FROM (make_date(yr, mo, 1) + interval '1 month - 1 day')) THEN
    PERFORM ora.fail(1839, 'date not valid for month specified');
  ELSIF hr > 23 THEN
    PERFORM ora.fail(1850, 'hour must be between 0 and 23');
  ELSIF hour12 NOT BETWEEN 1 AND 12 THEN
    PERFORM ora.fail(1849, 'hour must be between 1 and 12');
  ELSIF hr IS NOT NULL AND half IS NOT NULL THEN
    PERFORM ora.fail(1818, '''HH24'' precludes use of meridian indicator');
  ELSIF day_of_year NOT BETWEEN 1 AND extract(doy FROM make_date(yr, 12, 31)) THEN
    PERFORM ora.fail(1848, 'day of year must be between 1 and 365 (366 for leap year)');
  ELSIF weekday <> extract(dow FROM make_date(yr, mo, dy)) AND day_of_year IS NULL THEN
    PERFORM ora.fail(1835, 'day of week conflicts with Julian date');
  ELSIF mi > 59 THEN
    PERFORM ora.fail(1851, 'minutes must be between 0 and 59');
  ELSIF sc > 59 THEN
    PERFORM ora.fail(1852, 'seconds must be between 0 and 59');
  END IF;
  IF hour12 IS NOT NULL THEN
    hr := hour12 % 12 + CASE WHEN half LIKE 'P%' THEN 12 ELSE 0 END;
  END IF;
  IF day_of_year IS NOT NULL THEN
    mo := extract(month FROM make_date(yr, 1, 1) + day_of_year - 1);
    dy := extract(day FROM make_date(yr, 1, 1) + day_of_year - 1);
  END IF;
  RETURN format('%s-%s-%s ', lpad(yr::text, 4, '0'), lpad(mo::text, 2, '0'), lpad(dy::text, 2, '0'))
    || CASE WHEN seconds_of_day IS NOT NULL THEN (interval '1 second' * seconds_of_day)::text
            ELSE format('%s:%s:%s', coalesce(hr, 0), coalesce(mi, 0), coalesce(sc, 0)) END || micro || CASE WHEN zone <> '' THEN ' ' || zone ELSE '' END;
END $$;

-- A cast from text is Oracle's (by the session's format); what read_datetime wrote is read by PostgreSQL's own.
CREATE FUNCTION ora.iso_timestamp(text) RETURNS timestamp LANGUAGE sql STABLE STRICT PARALLEL SAFE AS $$ SELECT timestamp_in(textout($1), 0, -1) $$;
CREATE FUNCTION ora.iso_timestamptz(text) RETURNS timestamptz LANGUAGE sql STABLE STRICT PARALLEL SAFE AS $$ SELECT timestamptz_in(textout($1), 0, -1) $$;

CREATE FUNCTION ora.to_date(text, text) RETURNS ora.odate LANGUAGE sql STABLE STRICT PARALLEL SAFE AS $$
  SELECT ora.timestamp_odate(ora.iso_timestamp(ora.read_datetime($1, $2, true))) $$;
CREATE FUNCTION ora.to_date(text) RETURNS ora.odate LANGUAGE sql STABLE STRICT PARALLEL SAFE AS $$ SELECT ora.to_date($1, ora.nls_date()) $$;
CREATE FUNCTION ora.to_date(ora.odate) RETURNS ora.odate LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$ SELECT $1 $$;
CREATE FUNCTION ora.to_date(timestamp) RETURNS ora.odate LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$ SELECT ora.timestamp_odate($1) $$;
CREATE FUNCTION ora.to_timestamp(text, text) RETURNS timestamp LANGUAGE sql STABLE STRICT PARALLEL SAFE AS $$
  SELECT ora.iso_timestamp(ora.read_datetime($1, $2, false)) $$;
CREATE FUNCTION ora.to_timestamp(text) RETURNS timestamp LANGUAGE sql STABLE STRICT PARALLEL SAFE AS $$ SELECT ora.to_timestamp($1, ora.nls_timestamp()) $$;
CREATE FUNCTION ora.to_timestamp(timestamp) RETURNS timestamp LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$ SELECT $1 $$;
CREATE FUNCTION ora.to_timestamp_tz(text, text) RETURNS timestamptz LANGUAGE sql STABLE STRICT PARALLEL SAFE AS $$
  SELECT ora.iso_timestamptz(ora.read_datetime($1, $2, false)) $$;
CREATE FUNCTION ora.to_timestamp_tz(text) RETURNS timestamptz LANGUAGE sql STABLE STRICT PARALLEL SAFE AS $$
  SELECT ora.to_timestamp_tz($1, ora.nls_timestamp_tz()) $$;
CREATE FUNCTION ora.to_timestamp_tz(timestamptz) RETURNS timestamptz LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$ SELECT $1 $$;

-- TO_DATE and its like with DEFAULT ... ON CONVERSION ERROR. A format that is none stays an error.
CREATE FUNCTION ora.conversion_failed(state text, number text) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE state WHEN 'OR000' THEN number::int4 BETWEEN 1830 AND 1899 ELSE state LIKE '22%' END $$;
DO $$
DECLARE
  name text;
  kind text;
BEGIN
  FOR name, kind IN VALUES ('to_date', 'ora.odate'), ('to_timestamp', 'timestamp'), ('to_timestamp_tz', 'timestamptz') LOOP
    EXECUTE format($f$
      CREATE FUNCTION ora.%1$s_or(value text, fallback text, form text) RETURNS %2$s LANGUAGE plpgsql STABLE AS $b$
      DECLARE
        number text;
      BEGIN
        RETURN ora.%1$s(value, form);
      EXCEPTION WHEN OTHERS THEN
        GET STACKED DIAGNOSTICS number = PG_EXCEPTION_DETAIL;
        IF ora.conversion_failed(SQLSTATE, number) THEN
          RETURN ora.%1$s(fallback, form);
        END IF;
        RAISE;
      END $b$ $f$, name, kind);
  END LOOP;
END $$;

-- ---- Any value as text, as Oracle converts silently.

CREATE FUNCTION ora.s(text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT $1 $$;
CREATE FUNCTION ora.s(numeric) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT ora.num_text($1) $$;
CREATE FUNCTION ora.to_date(numeric, text) RETURNS ora.odate LANGUAGE sql STABLE STRICT PARALLEL SAFE AS $$ SELECT ora.to_date(ora.s($1), $2) $$;
CREATE FUNCTION ora.to_timestamp(numeric, text) RETURNS timestamp LANGUAGE sql STABLE STRICT PARALLEL SAFE AS $$ SELECT ora.to_timestamp(ora.s($1), $2) $$;
-- BINARY_DOUBLE and BINARY_FLOAT: 1.5E+000, of 17 and 9 digits.
CREATE FUNCTION ora.double_text(x float8, digits int4) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
  SELECT CASE WHEN x = 'NaN' THEN 'Nan' WHEN x = 'Infinity' THEN 'Inf' WHEN x = '-Infinity' THEN '-Inf' WHEN x = 0 THEN '0'
    ELSE regexp_replace(regexp_replace(pg_catalog.upper(btrim(to_char(x, '9.' || repeat('9', digits - 1) || 'EEEE'))),
      '(\.[0-9]+?)0*E', '\1E'), 'E([+-])([0-9]{2})$', 'E\10\2') END $$;
CREATE FUNCTION ora.s(float8) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT ora.double_text($1, 17) $$;
CREATE FUNCTION ora.s(float4) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT ora.double_text($1::float8, 9) $$;
CREATE FUNCTION ora.s(ora.odate) RETURNS text LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT pg_catalog.upper(to_char($1::timestamp, ora.pg_format(ora.nls_date()))) $$;
CREATE FUNCTION ora.s(timestamp) RETURNS text LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT pg_catalog.upper(to_char($1, ora.pg_format(ora.nls_timestamp()))) $$;
CREATE FUNCTION ora.s(timestamptz) RETURNS text LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT pg_catalog.upper(to_char($1, ora.pg_format(ora.nls_timestamp_tz()))) $$;
CREATE FUNCTION ora.s(interval) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN extract(year FROM $1) <> 0 OR extract(month FROM $1) <> 0 THEN ora.fail(3001, 'unimplemented feature: INTERVAL YEAR TO MONTH')
    ELSE CASE WHEN extract(epoch FROM $1) < 0 THEN '-' ELSE '+' END || lpad((abs(extract(epoch FROM $1))::int8 / 86400)::text, 2, '0') || ' '
    || to_char(make_interval(secs => (abs(extract(epoch FROM $1)) % 86400)::float8), 'HH24:MI:SS.US') END $$;
CREATE FUNCTION ora.s(boolean) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN $1 THEN 'TRUE' WHEN NOT $1 THEN 'FALSE' END $$;
CREATE FUNCTION ora.s(bytea) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT pg_catalog.upper(encode($1, 'hex')) $$;
CREATE FUNCTION ora.rowidtochar(t tid) RETURNS text LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
  digits constant text := 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
  block int8 := split_part(btrim(t::text, '()'), ',', 1)::int8;
  slot int8 := split_part(btrim(t::text, '()'), ',', 2)::int8;
  result text := 'AAAAAAAAA';
BEGIN
  FOR place IN REVERSE 5..0 LOOP
    result := result || pg_catalog.substr(digits, ((block >> (6 * place)) & 63)::int4 + 1, 1);
  END LOOP;
  FOR place IN REVERSE 2..0 LOOP
    result := result || pg_catalog.substr(digits, ((slot >> (6 * place)) & 63)::int4 + 1, 1);
  END LOOP;
  RETURN result;
END $$;
CREATE FUNCTION ora.chartorowid(t text) RETURNS tid LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
  digits constant text := 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
  block int8 := 0;
  slot int8 := 0;
BEGIN
  IF t !~ '^[A-Za-z0-9+/]{18}$' THEN
    PERFORM ora.fail(1410, 'The ROWID is invalid.');
  END IF;
  FOR place IN 10..15 LOOP
    block := block * 64 + strpos(digits, pg_catalog.substr(t, place, 1)) - 1;
  END LOOP;
  FOR place IN 16..18 LOOP
    slot := slot * 64 + strpos(digits, pg_catalog.substr(t, place, 1)) - 1;
  END LOOP;
  IF block > 4294967295 OR slot > 65535 THEN
    PERFORM ora.fail(1410, 'The ROWID is invalid.');
  END IF;
  RETURN format('(%s,%s)', block, slot)::tid;
END $$;
CREATE FUNCTION ora.s(tid) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT ora.rowidtochar($1) $$;
CREATE FUNCTION ora.chartorowid(tid) RETURNS tid LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$ SELECT $1 $$;

-- ---- Compact JSON text; keys in the order jsonb keeps them.

CREATE FUNCTION ora.json_text(j jsonb) RETURNS text LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
BEGIN
  RETURN CASE jsonb_typeof(j)
    WHEN 'object' THEN '{' || coalesce((SELECT string_agg(to_json(e.key)::text || ':' || CASE WHEN jsonb_typeof(e.value) IN ('object', 'array') THEN ora.json_text(e.value)
        ELSE e.value::text END, ',' ORDER BY e.place)
      FROM jsonb_each(j) WITH ORDINALITY AS e(key, value, place)), '') || '}'
    WHEN 'array' THEN '[' || coalesce((SELECT string_agg(ora.json_text(e.value), ',' ORDER BY e.place)
      FROM jsonb_array_elements(j) WITH ORDINALITY AS e(value, place)), '') || ']'
    ELSE j::text END;
END $$;
-- JSON_VALUE as text, over JSON_QUERY: PostgreSQL's own JSON_VALUE would write t and f for true and false, and RETURNING jsonb
-- it gives NULL for every row after one that had none. The first form is inlined, so not STRICT.
CREATE FUNCTION ora.json_scalar(jsonb) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE jsonb_typeof($1) WHEN 'object' THEN NULL WHEN 'array' THEN NULL WHEN 'number' THEN trim_scale($1::numeric)::text ELSE nullif($1 #>> '{}', '') END $$;
CREATE FUNCTION ora.json_scalar(j jsonb, strict boolean, otherwise text) RETURNS text LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
  IF jsonb_typeof(j) IN ('object', 'array') THEN
    IF strict THEN
      PERFORM ora.fail(40456, 'JSON_VALUE evaluated to non-scalar value');
    END IF;
    RETURN otherwise;
  END IF;
  RETURN ora.json_scalar(j);
END $$;
CREATE FUNCTION ora.s(jsonb) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT ora.json_text($1) $$;

-- A JSON text that is not longer than RETURNING says: NULL ON ERROR gives nothing for it, ERROR ON ERROR fails.
CREATE FUNCTION ora.json_within(j text, longest integer, strict boolean) RETURNS text LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
BEGIN
  IF octet_length(j) <= longest THEN
    RETURN j;
  END IF;
  IF strict THEN
    PERFORM ora.fail(40478, format('output value too large (maximum: %s)', longest));
  END IF;
  RETURN NULL;
END $$;

-- A vector as Oracle prints it: [1.0E+000,0,-1.00000001E-001].
CREATE FUNCTION ora.from_vector(v vector) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
  SELECT '[' || string_agg(ora.double_text(x::float8, 9), ',' ORDER BY place) || ']' FROM unnest(v::real[]) WITH ORDINALITY AS u(x, place) $$;
CREATE FUNCTION ora.s(vector) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT ora.from_vector($1) $$;

CREATE FUNCTION ora.cat(VARIADIC text[]) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT nullif(array_to_string($1, ''), '') $$;

-- The same where the result is a VARCHAR2. (IMMUTABLE, for indexes: the longest VARCHAR2 is one of the database.)
CREATE FUNCTION ora.cat_varchar2(VARIADIC pieces text[]) RETURNS text LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE
  result text := array_to_string(pieces, '');
BEGIN
  IF octet_length(result) > ora.max_text() THEN
    PERFORM ora.fail(1489, 'result of string concatenation is too long');
  END IF;
  RETURN nullif(result, '');
END $$;

-- ---- Row limits.

CREATE FUNCTION ora.row_count(numeric) RETURNS int8 LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT greatest(trunc(coalesce($1, 0)), 0)::int8 $$;
CREATE FUNCTION ora.nextval(regclass) RETURNS numeric LANGUAGE sql VOLATILE AS $$ SELECT nextval($1)::numeric $$;
CREATE FUNCTION ora.currval(regclass) RETURNS numeric LANGUAGE sql VOLATILE AS $$ SELECT currval($1)::numeric $$;

-- ---- Numbers.

-- A NUMBER has 20 digits to the base 100: 39 or 40 decimal ones, by where the point is.
CREATE FUNCTION ora.digits(q numeric) RETURNS numeric LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
  SELECT CASE WHEN min_scale(q) < 20 THEN trim_scale(q) WHEN abs(q) >= 1
    THEN trim_scale(round(q, 38 - 2 * ((pg_catalog.length(pg_catalog.trunc(abs(q))::text) - 1) / 2)))
    ELSE trim_scale(round(q, 40 + 2 * (pg_catalog.length(substring(abs(q)::text FROM '^0\.(0*)')) / 2))) END $$;
CREATE FUNCTION ora.div(numeric, numeric) RETURNS numeric LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
  SELECT ora.digits($1::numeric(1000, 60) / $2) $$;
CREATE FUNCTION ora.div(float8, float8) RETURNS float8 LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
  SELECT CASE WHEN $2 <> 0 THEN $1 / $2 WHEN $1 = 0 OR $1 = 'NaN' THEN 'NaN' ELSE sign($1) * 'Infinity'::float8 END $$;
CREATE FUNCTION ora.div(interval, numeric) RETURNS interval LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$ SELECT $1 / $2::float8 $$;
CREATE FUNCTION ora.div(text, numeric) RETURNS numeric LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$ SELECT ora.div(ora.num($1), $2) $$;
CREATE FUNCTION ora.div(numeric, text) RETURNS numeric LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$ SELECT ora.div($1, ora.num($2)) $$;
CREATE FUNCTION ora.div(text, text) RETURNS numeric LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$ SELECT ora.div(ora.num($1), ora.num($2)) $$;

CREATE FUNCTION ora.as_number(numeric) RETURNS numeric LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$ SELECT $1 $$;
CREATE FUNCTION ora.as_number(text) RETURNS numeric LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$ SELECT ora.num($1) $$;
CREATE FUNCTION ora.as_number(float8) RETURNS numeric LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$ SELECT $1::numeric $$;
CREATE FUNCTION ora.as_number(boolean) RETURNS numeric LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$ SELECT ora.bool_num($1) $$;
CREATE FUNCTION ora.to_number(text) RETURNS numeric LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$ SELECT ora.num($1) $$;
CREATE FUNCTION ora.to_number(numeric) RETURNS numeric LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$ SELECT $1 $$;
CREATE FUNCTION ora.to_number(float8) RETURNS numeric LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$ SELECT $1::numeric $$;
CREATE FUNCTION ora.to_number(boolean) RETURNS numeric LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$ SELECT ora.bool_num($1) $$;
CREATE FUNCTION ora.to_number(value text, format text) RETURNS numeric LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
BEGIN
  IF format ~* '^(?:FM)?[0X]+$' AND format ~* 'x' THEN
    IF value !~* '^\s*[0-9a-f]+\s*$' OR length(btrim(value)) > length(replace(pg_catalog.upper(format), 'FM', '')) THEN
      PERFORM ora.fail(1722, 'unable to convert string value to a number');
    END IF;
    RETURN ('x' || lpad(btrim(value), 16, '0'))::bit(64)::int8::numeric;
  END IF;
  IF format !~* '^(FM)?[$0-9.,DGLS]*(EEEE|MI|PR|S)?$' THEN
    PERFORM ora.fail(1481, 'invalid number format model');
  END IF;
  IF value !~ '^\s*[-+$<]?\s*[0-9$.,]+(?:[eE][+-]?[0-9]+)?\s*[-+>]?\s*$' THEN
    PERFORM ora.fail(1722, 'unable to convert string value to a number');
  END IF;
  RETURN pg_catalog.to_number(value, replace(format, '$', 'L'));
END $$;
CREATE FUNCTION ora.to_number_or(value text, fallback numeric) RETURNS numeric LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN value IS NULL THEN NULL
    WHEN value ~ '^\s*[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?\s*$' THEN value::numeric ELSE fallback END $$;
CREATE FUNCTION ora.as_double(numeric) RETURNS float8 LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$ SELECT $1::float8 $$;
CREATE FUNCTION ora.as_double(float8) RETURNS float8 LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$ SELECT $1 $$;
CREATE FUNCTION ora.as_double(text) RETURNS float8 LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
  SELECT CASE pg_catalog.lower(btrim($1)) WHEN 'nan' THEN 'NaN'::float8 WHEN 'inf' THEN 'Infinity'::float8 WHEN '-inf' THEN '-Infinity'::float8 ELSE ora.num($1)::float8 END $$;
CREATE FUNCTION ora.to_binary_double(numeric) RETURNS float8 LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$ SELECT $1::float8 $$;
CREATE FUNCTION ora.to_binary_double(float8) RETURNS float8 LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$ SELECT $1 $$;
CREATE FUNCTION ora.to_binary_double(text) RETURNS float8 LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$ SELECT ora.as_double($1) $$;
CREATE FUNCTION ora.to_binary_float(numeric) RETURNS float4 LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$ SELECT $1::float4 $$;
CREATE FUNCTION ora.to_binary_float(float8) RETURNS float4 LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$ SELECT $1::float4 $$;
CREATE FUNCTION ora.to_binary_float(text) RETURNS float4 LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$ SELECT ora.as_double($1)::float4 $$;
CREATE FUNCTION ora.to_boolean(boolean) RETURNS boolean LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$ SELECT $1 $$;
CREATE FUNCTION ora.to_boolean(numeric) RETURNS boolean LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$ SELECT $1 <> 0 $$;
CREATE FUNCTION ora.to_boolean(text) RETURNS boolean LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
BEGIN
  CASE pg_catalog.lower(btrim($1))
    WHEN 'true', 't', 'yes', 'y', 'on', '1' THEN RETURN true;
    WHEN 'false', 'f', 'no', 'n', 'off', '0' THEN RETURN false;
    ELSE PERFORM ora.fail(61800, 'invalid boolean literal: ' || $1);
  END CASE;
END $$;

-- One argument: the same function for NUMBER and BINARY_DOUBLE, and text is converted.
DO $$
DECLARE
  f record;
BEGIN
  FOR f IN SELECT * FROM (VALUES
      ('abs', 'abs($1)', 'abs($1)'), ('ceil', 'ceil($1)', 'ceil($1)'), ('floor', 'floor($1)', 'floor($1)'),
      ('sqrt', 'CASE WHEN $1 < 0 THEN ora.fail(1428, ''argument is out of range'')::numeric ELSE trim_scale(sqrt($1::numeric(1000, 40))) END', 'sqrt($1)'),
      ('exp', 'trim_scale(round(exp($1::numeric(1000, 40)), 38))', 'exp($1)'),
      ('ln', 'CASE WHEN $1 <= 0 THEN ora.fail(1428, ''argument is out of range'')::numeric ELSE trim_scale(round(ln($1::numeric(1000, 40)), 38)) END', 'ln($1)'),
      ('sign', 'sign($1)', 'sign($1)'), ('sin', 'sin($1::float8)::numeric', 'sin($1)'), ('cos', 'cos($1::float8)::numeric', 'cos($1)'),
      ('tan', 'tan($1::float8)::numeric', 'tan($1)')) AS functions(name, number_body, double_body)
  LOOP
    EXECUTE format('CREATE FUNCTION ora.%I(numeric) RETURNS numeric LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $f$ SELECT %s $f$', f.name, f.number_body);
    EXECUTE format('CREATE FUNCTION ora.%I(float8) RETURNS float8 LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $f$ SELECT %s $f$', f.name, f.double_body);
    EXECUTE format('CREATE FUNCTION ora.%I(text) RETURNS numeric LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $f$ SELECT ora.%I(ora.num($1)) $f$', f.name, f.name);
  END LOOP;
END $$;
CREATE FUNCTION ora.round(numeric, numeric DEFAULT 0) RETURNS numeric LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$ SELECT pg_catalog.round($1, $2::int4) $$;
CREATE FUNCTION ora.round(float8, numeric DEFAULT 0) RETURNS float8 LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
  SELECT CASE WHEN $2 = 0 THEN pg_catalog.round($1) ELSE pg_catalog.round($1::numeric, $2::int4)::float8 END $$;
CREATE FUNCTION ora.round(text, numeric DEFAULT 0) RETURNS numeric LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$ SELECT pg_catalog.round(ora.num($1), $2::int4) $$;
CREATE FUNCTION ora.trunc(numeric, numeric DEFAULT 0) RETURNS numeric LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$ SELECT pg_catalog.trunc($1, $2::int4) $$;
CREATE FUNCTION ora.trunc(float8, numeric DEFAULT 0) RETURNS float8 LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$ SELECT pg_catalog.trunc($1::numeric, $2::int4)::float8 $$;
CREATE FUNCTION ora.mod(numeric, numeric) RETURNS numeric LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$ SELECT CASE WHEN $2 = 0 THEN $1 ELSE $1 % $2 END $$;
CREATE FUNCTION ora.remainder(numeric, numeric) RETURNS numeric LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
  SELECT $1 - $2 * CASE WHEN abs($1 / $2 - pg_catalog.trunc($1 / $2)) = 0.5 THEN 2 * pg_catalog.round($1 / $2 / 2) ELSE pg_catalog.round($1 / $2) END $$;
CREATE FUNCTION ora.power(b numeric, e numeric) RETURNS numeric LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
  SELECT CASE WHEN b <> 0 AND e * log(abs(b)) >= 126 THEN ora.fail(1426, 'numeric overflow')::numeric
    ELSE trim_scale(pg_catalog.power(b, e)) END $$;
CREATE FUNCTION ora.power(float8, float8) RETURNS float8 LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$ SELECT pg_catalog.power($1, $2) $$;
CREATE FUNCTION ora.log(b numeric, n numeric) RETURNS numeric LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
  SELECT CASE WHEN b <= 0 OR b = 1 OR n <= 0 THEN ora.fail(1428, 'argument is out of range')::numeric
    ELSE trim_scale(round(pg_catalog.log(b::numeric(1000, 40), n::numeric(1000, 40)), 38)) END $$;
CREATE FUNCTION ora.bitand(numeric, numeric) RETURNS numeric LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$ SELECT ($1::int8 & $2::int8)::numeric $$;
CREATE FUNCTION ora.bitor(numeric, numeric) RETURNS numeric LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$ SELECT ($1::int8 | $2::int8)::numeric $$;
CREATE FUNCTION ora.bitxor(numeric, numeric) RETURNS numeric LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$ SELECT ($1::int8 # $2::int8)::numeric $$;
CREATE FUNCTION ora.nanvl(float8, float8) RETURNS float8 LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$ SELECT CASE WHEN $1 = 'NaN' THEN $2 ELSE $1 END $$;
CREATE FUNCTION ora.ora_hash(value text, buckets numeric DEFAULT 4294967295, seed numeric DEFAULT 0) RETURNS numeric LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT ((hashtextextended(coalesce(value, ''), seed::int8) & 4294967295) % (buckets::int8 + 1))::numeric $$;
CREATE FUNCTION ora.dbms_random_value() RETURNS numeric LANGUAGE sql VOLATILE AS $$ SELECT random()::numeric $$;
CREATE FUNCTION ora.dbms_random_value(low numeric, high numeric) RETURNS numeric LANGUAGE sql VOLATILE AS $$ SELECT low + random()::numeric * (high - low) $$;
CREATE FUNCTION ora.dbms_random_string(kind text, size numeric) RETURNS text LANGUAGE sql VOLATILE AS $$
  SELECT string_agg(pg_catalog.substr(c.letters, 1 + floor(random() * length(c.letters))::int4, 1), '')
  FROM generate_series(1, size::int4), (SELECT CASE pg_catalog.lower(kind) WHEN 'l' THEN 'abcdefghijklmnopqrstuvwxyz'
    WHEN 'a' THEN 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz' WHEN 'x' THEN 'ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789'
    ELSE 'ABCDEFGHIJKLMNOPQRSTUVWXYZ' END) AS c(letters) $$;

CREATE FUNCTION ora.greatest(VARIADIC anycompatiblearray) RETURNS anycompatible LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN array_position($1, NULL) IS NULL THEN (SELECT x FROM unnest($1) AS u(x) ORDER BY x DESC LIMIT 1) END $$;
CREATE FUNCTION ora.least(VARIADIC anycompatiblearray) RETURNS anycompatible LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN array_position($1, NULL) IS NULL THEN (SELECT x FROM unnest($1) AS u(x) ORDER BY x LIMIT 1) END $$;

-- Aggregates Oracle has for other types, or under another rule.
CREATE FUNCTION ora.add_text(numeric, text) RETURNS numeric LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN $2 IS NULL THEN $1 ELSE coalesce($1, 0) + ora.num($2) END $$;
CREATE AGGREGATE ora.sum(text) (SFUNC = ora.add_text, STYPE = numeric);
CREATE FUNCTION ora.collect(numeric[], numeric) RETURNS numeric[] LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN $2 IS NULL THEN $1 ELSE $1 || $2 END $$;
CREATE FUNCTION ora.variance_of(numeric[]) RETURNS numeric LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE cardinality($1) WHEN 0 THEN NULL WHEN 1 THEN 0 ELSE (SELECT var_samp(x) FROM unnest($1) AS u(x)) END $$;
CREATE FUNCTION ora.stddev_of(numeric[]) RETURNS numeric LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE cardinality($1) WHEN 0 THEN NULL WHEN 1 THEN 0 ELSE (SELECT stddev_samp(x) FROM unnest($1) AS u(x)) END $$;
CREATE FUNCTION ora.median_of(numeric[]) RETURNS numeric LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT avg(x) FROM (SELECT x, row_number() OVER (ORDER BY x) AS place, count(*) OVER () AS total FROM unnest($1) AS u(x)) AS sorted
  WHERE place IN ((total + 1) / 2, (total + 2) / 2) $$;
CREATE AGGREGATE ora.variance(numeric) (SFUNC = ora.collect, STYPE = numeric[], INITCOND = '{}', FINALFUNC = ora.variance_of);
CREATE AGGREGATE ora.stddev(numeric) (SFUNC = ora.collect, STYPE = numeric[], INITCOND = '{}', FINALFUNC = ora.stddev_of);
CREATE AGGREGATE ora.median(numeric) (SFUNC = ora.collect, STYPE = numeric[], INITCOND = '{}', FINALFUNC = ora.median_of);
-- What lies at that part of the way through the sorted values, between two of them in proportion.
CREATE FUNCTION ora.percentile(part numeric, sorted numeric[]) RETURNS numeric LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN place = floor(place) THEN sorted[place::int4] ELSE trim_scale(
    sorted[floor(place)::int4] * (ceil(place) - place) + sorted[ceil(place)::int4] * (place - floor(place))) END
  FROM (SELECT 1 + part * (cardinality(sorted) - 1) AS place) AS p $$;
-- ---- Texts.

-- The first characters, or as many as fit into that many bytes.
CREATE FUNCTION ora.cut(t text, size int4, bytes boolean) RETURNS text LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
  result text := left(t, size);
BEGIN
  WHILE bytes AND octet_length(result) > size LOOP
    result := left(result, length(result) - greatest(1, (octet_length(result) - size) / 4));
  END LOOP;
  RETURN nullif(result, '');
END $$;
CREATE FUNCTION ora.listagg_limit(t text) RETURNS text LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN octet_length(t) > ora.max_text() THEN ora.fail(1489, 'result of string concatenation is too long') ELSE nullif(t, '') END $$;
CREATE FUNCTION ora.listagg_truncate(t text) RETURNS text LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN octet_length(t) > ora.max_text() THEN ora.cut(t, ora.max_text() - 3, true) || '...' ELSE nullif(t, '') END $$;
CREATE FUNCTION ora.cast_varchar2(t text, size int4, bytes boolean) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
  SELECT CASE WHEN size = 0 OR (octet_length(t) <= size) THEN t ELSE ora.cut(t, size, bytes) END $$;
-- A number that does not fit is an error, where a text is cut.
CREATE FUNCTION ora.cast_number(n numeric, size int4, bytes boolean) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
  SELECT CASE WHEN size = 0 OR octet_length(ora.s(n)) <= size THEN ora.s(n) ELSE ora.fail(25137, 'Data value out of range') END $$;

CREATE FUNCTION ora.length(text) RETURNS numeric LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$ SELECT nullif(pg_catalog.length($1), 0)::numeric $$;
-- That of a RAW is of its hex digits, that of a BLOB of its bytes.
CREATE FUNCTION ora.length(bytea) RETURNS numeric LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$ SELECT nullif(2 * pg_catalog.length($1), 0)::numeric $$;
CREATE FUNCTION ora.length(ora.blob) RETURNS numeric LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$ SELECT nullif(pg_catalog.length($1::bytea), 0)::numeric $$;
CREATE FUNCTION ora.length(numeric) RETURNS numeric LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$ SELECT pg_catalog.length(ora.s($1))::numeric $$;
CREATE FUNCTION ora.lengthb(text) RETURNS numeric LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$ SELECT nullif(octet_length($1), 0)::numeric $$;
CREATE FUNCTION ora.lengthb(numeric) RETURNS numeric LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$ SELECT octet_length(ora.s($1))::numeric $$;
-- Under NLS_SORT = BINARY, the only one: the bytes, and a zero.
CREATE FUNCTION ora.nlssort(text) RETURNS bytea LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$ SELECT convert_to($1, 'UTF8') || '\x00'::bytea $$;
CREATE FUNCTION ora.upper(text) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$ SELECT pg_catalog.upper($1) $$;
CREATE FUNCTION ora.lower(text) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$ SELECT pg_catalog.lower($1) $$;
CREATE FUNCTION ora.initcap(text) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$ SELECT pg_catalog.initcap($1) $$;
CREATE FUNCTION ora.substr(t text, start numeric, size numeric) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
  SELECT CASE WHEN size < 1 OR (start < 0 AND -trunc(start) > length(t)) THEN NULL
    ELSE nullif(pg_catalog.substr(t, CASE WHEN start < 0 THEN length(t) + trunc(start)::int4 + 1 ELSE greatest(trunc(start)::int4, 1) END, least(trunc(size), 1000000000)::int4), '') END $$;
CREATE FUNCTION ora.substr(t text, start numeric) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$ SELECT ora.substr(t, start, 1000000000) $$;
CREATE FUNCTION ora.substr(t numeric, start numeric) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$ SELECT ora.substr(ora.s(t), start, 1000000000) $$;
CREATE FUNCTION ora.substr(t numeric, start numeric, size numeric) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$ SELECT ora.substr(ora.s(t), start, size) $$;
CREATE FUNCTION ora.substrb(t text, start numeric, size numeric DEFAULT 1000000000) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
  SELECT CASE WHEN size < 1 THEN NULL WHEN start IN (0, 1) THEN ora.cut(t, size::int4, true)
    WHEN octet_length(t) = length(t) THEN ora.substr(t, start, size)
    ELSE ora.fail(3001, 'unimplemented feature: SUBSTRB inside a text with characters of several bytes') END $$;
CREATE FUNCTION ora.instr(t text, sought text, start numeric DEFAULT 1, occurrence numeric DEFAULT 1) RETURNS numeric LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
  place int4 := start::int4;
  left_over int4 := occurrence::int4;
  found int4;
BEGIN
  IF left_over < 1 THEN
    PERFORM ora.fail(1428, 'argument is out of range');
  END IF;
  IF place = 0 THEN
    RETURN 0;
  ELSIF place > 0 THEN
    LOOP
      found := strpos(pg_catalog.substr(t, place), sought);
      IF found = 0 THEN
        RETURN 0;
      END IF;
      place := place + found - 1;
      left_over := left_over - 1;
      IF left_over = 0 THEN
        RETURN place;
      END IF;
      place := place + 1;
    END LOOP;
  END IF;
  place := least(length(t) + place + 1, length(t) - length(sought) + 1);
  WHILE place > 0 LOOP
    IF pg_catalog.substr(t, place, length(sought)) = sought THEN
      left_over := left_over - 1;
      IF left_over = 0 THEN
        RETURN place;
      END IF;
    END IF;
    place := place - 1;
  END LOOP;
  RETURN 0;
END $$;
-- Of a VARCHAR2: cut silently at the longest VARCHAR2.
CREATE FUNCTION ora.replace(t text, sought text, replacement text DEFAULT NULL) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN octet_length(r) <= 4000 THEN nullif(r, '') ELSE ora.cut(r, ora.max_text(), true) END
  FROM pg_catalog.replace(t, coalesce(sought, ''), coalesce(replacement, '')) AS replaced(r) $$;
CREATE FUNCTION ora.replace(t ora.clob, sought text, replacement text DEFAULT NULL) RETURNS ora.clob LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT nullif(pg_catalog.replace(t, coalesce(sought, ''), coalesce(replacement, '')), '')::ora.clob $$;
-- CHAR: PostgreSQL's own cast to text takes the blanks away, which are part of the value in Oracle.
CREATE FUNCTION ora.padded(bpchar) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$ SELECT textin(bpcharout($1)) $$;
CREATE FUNCTION ora.s(bpchar) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT ora.padded($1) $$;
CREATE FUNCTION ora.length(bpchar) RETURNS numeric LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$ SELECT ora.length(ora.padded($1)) $$;
CREATE FUNCTION ora.lengthb(bpchar) RETURNS numeric LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$ SELECT ora.lengthb(ora.padded($1)) $$;
CREATE FUNCTION ora.upper(bpchar) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$ SELECT pg_catalog.upper(ora.padded($1)) $$;
CREATE FUNCTION ora.lower(bpchar) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$ SELECT pg_catalog.lower(ora.padded($1)) $$;
CREATE FUNCTION ora.substr(t bpchar, start numeric) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$ SELECT ora.substr(ora.padded(t), start) $$;
CREATE FUNCTION ora.substr(t bpchar, start numeric, size numeric) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
  SELECT ora.substr(ora.padded(t), start, size) $$;
CREATE FUNCTION ora.replace(t bpchar, sought text, replacement text DEFAULT NULL) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT ora.replace(ora.padded(t), sought, replacement) $$;
CREATE FUNCTION ora.translate(text, text, text) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$ SELECT nullif(pg_catalog.translate($1, $2, $3), '') $$;
CREATE FUNCTION ora.trim(text) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$ SELECT nullif(btrim($1), '') $$;
CREATE FUNCTION ora.trim(numeric) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$ SELECT ora.s($1) $$;
CREATE FUNCTION ora.trim_of(side text, characters text, t text) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
  SELECT nullif(CASE side WHEN 'LEADING' THEN pg_catalog.ltrim(t, characters) WHEN 'TRAILING' THEN pg_catalog.rtrim(t, characters) ELSE btrim(t, characters) END, '') $$;
CREATE FUNCTION ora.ltrim(text, text DEFAULT ' ') RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$ SELECT nullif(pg_catalog.ltrim($1, $2), '') $$;
CREATE FUNCTION ora.rtrim(text, text DEFAULT ' ') RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$ SELECT nullif(pg_catalog.rtrim($1, $2), '') $$;
CREATE FUNCTION ora.lpad(t text, size numeric, filling text DEFAULT ' ') RETURNS text LANGUAGE sql STABLE STRICT PARALLEL SAFE AS $$
  SELECT nullif(pg_catalog.lpad(t, least(size, ora.max_text())::int4, filling), '') $$;
CREATE FUNCTION ora.rpad(t text, size numeric, filling text DEFAULT ' ') RETURNS text LANGUAGE sql STABLE STRICT PARALLEL SAFE AS $$
  SELECT nullif(pg_catalog.rpad(t, least(size, ora.max_text())::int4, filling), '') $$;
CREATE FUNCTION ora.lpad(t numeric, size numeric, filling text DEFAULT ' ') RETURNS text LANGUAGE sql STABLE STRICT PARALLEL SAFE AS $$ SELECT ora.lpad(ora.s(t), size, filling) $$;
CREATE FUNCTION ora.rpad(t numeric, size numeric, filling text DEFAULT ' ') RETURNS text LANGUAGE sql STABLE STRICT PARALLEL SAFE AS $$ SELECT ora.rpad(ora.s(t), size, filling) $$;
-- By the bytes of the character in AL32UTF8: ASCII('ä') is 50084.
CREATE FUNCTION ora.ascii(text) RETURNS numeric LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
  SELECT ('x' || lpad(encode(convert_to(left($1, 1), 'UTF8'), 'hex'), 16, '0'))::bit(64)::int8::numeric WHERE $1 <> '' $$;
CREATE FUNCTION ora.chr(n numeric) RETURNS text LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
  digits text := to_hex(n::int8);
BEGIN
  IF n < 128 THEN
    RETURN pg_catalog.chr(n::int4);
  END IF;
  RETURN convert_from(decode(lpad(digits, 2 * ((pg_catalog.length(digits) + 1) / 2), '0'), 'hex'), 'UTF8');
EXCEPTION WHEN character_not_in_repertoire THEN
  PERFORM ora.fail(3001, 'unimplemented feature: CHR of bytes that are no character');
END $$;

-- Oracle's match parameters as PostgreSQL's: by default a point matches no line end, and ^ and $ only the whole text's.
CREATE FUNCTION ora.pattern_flags(pattern text, flags text) RETURNS text LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
BEGIN
  IF flags !~ '^[icnmx]*$' THEN
    PERFORM ora.fail(1760, 'illegal argument for function');
  END IF;
  RETURN CASE WHEN flags ~ 'i[^c]*$' THEN 'i' ELSE '' END || CASE WHEN flags ~ 'x' THEN 'x' ELSE '' END
    || CASE WHEN flags ~ 'n' AND flags ~ 'm' THEN 'w' WHEN flags ~ 'n' THEN 's' WHEN flags ~ 'm' THEN 'n'
            WHEN pattern ~ '(^|[^\\])\.' THEN 'p' ELSE 's' END;
END $$;
CREATE FUNCTION ora.regexp_like(text, text, text DEFAULT 'c') RETURNS boolean LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
  SELECT pg_catalog.regexp_like($1, $2, ora.pattern_flags($2, $3)) $$;
CREATE FUNCTION ora.regexp_substr(text, text, numeric DEFAULT 1, numeric DEFAULT 1, text DEFAULT 'c', numeric DEFAULT 0) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT nullif(pg_catalog.regexp_substr($1, $2, $3::int4, $4::int4, ora.pattern_flags($2, coalesce($5, 'c')), $6::int4), '') $$;
CREATE FUNCTION ora.regexp_replace(t text, pattern text, replacement text DEFAULT NULL, start numeric DEFAULT 1, occurrence numeric DEFAULT 0, flags text DEFAULT 'c') RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT nullif(pg_catalog.regexp_replace(t, pattern, coalesce(replacement, ''), start::int4, occurrence::int4, ora.pattern_flags(pattern, coalesce(flags, 'c'))), '') $$;
CREATE FUNCTION ora.regexp_instr(text, text, numeric DEFAULT 1, numeric DEFAULT 1, numeric DEFAULT 0, text DEFAULT 'c', numeric DEFAULT 0) RETURNS numeric LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
  SELECT pg_catalog.regexp_instr($1, $2, $3::int4, $4::int4, $5::int4, ora.pattern_flags($2, $6), $7::int4)::numeric $$;
CREATE FUNCTION ora.regexp_count(text, text, numeric DEFAULT 1, text DEFAULT 'c') RETURNS numeric LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
  SELECT pg_catalog.regexp_count($1, $2, $3::int4, ora.pattern_flags($2, $4))::numeric $$;

CREATE FUNCTION ora.to_char(text) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$ SELECT $1 $$;
CREATE FUNCTION ora.to_char(t ora.clob) RETURNS text LANGUAGE sql STABLE STRICT PARALLEL SAFE AS $$
  SELECT CASE WHEN octet_length(t::text) > ora.max_text() THEN ora.fail(22835, 'Buffer too small for CLOB to CHAR or BLOB to RAW conversion') ELSE t::text END $$;
CREATE FUNCTION ora.to_char(numeric) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$ SELECT ora.s($1) $$;
CREATE FUNCTION ora.to_char(float8) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$ SELECT ora.s($1) $$;
CREATE FUNCTION ora.to_char(boolean) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$ SELECT ora.s($1) $$;
CREATE FUNCTION ora.to_char(ora.odate) RETURNS text LANGUAGE sql STABLE STRICT PARALLEL SAFE AS $$ SELECT ora.s($1) $$;
CREATE FUNCTION ora.to_char(timestamp) RETURNS text LANGUAGE sql STABLE STRICT PARALLEL SAFE AS $$ SELECT ora.s($1) $$;
CREATE FUNCTION ora.to_char(timestamptz) RETURNS text LANGUAGE sql STABLE STRICT PARALLEL SAFE AS $$ SELECT ora.s($1) $$;
CREATE FUNCTION ora.to_char(interval) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$ SELECT ora.s($1) $$;
CREATE FUNCTION ora.to_char(numeric, text) RETURNS text LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
  result text;
BEGIN
  IF $2 ~* '^TM9?$' THEN
    RETURN ora.s($1);
  ELSIF $2 ~* '^(FM)?0*X+$' THEN
    result := pg_catalog.to_hex(round($1)::int8);
    result := CASE WHEN $2 LIKE '%X%' THEN pg_catalog.upper(result) ELSE result END;
    RETURN CASE WHEN $2 ~* '^FM' THEN result ELSE ' ' || pg_catalog.lpad(result, length($2), CASE WHEN $2 ~ '^0' THEN '0' ELSE ' ' END) END;
  ELSIF $2 !~* '^(FM)?[$0-9.,DGLS]*(EEEE|MI|PR|S|RN)?$' THEN
    PERFORM ora.fail(1481, 'invalid number format model');
  END IF;
  result := pg_catalog.to_char($1, replace($2, '$', ''));
  IF $2 ~* 'EEEE' THEN
    RETURN CASE WHEN $2 ~* '^FM' THEN '' ELSE ' ' END || pg_catalog.upper(result);
  END IF;
  IF result LIKE '%##%' THEN
    RETURN repeat('#', length(regexp_replace($2, '^FM', '', 'i')) + 1);
  END IF;
  RETURN CASE WHEN $2 LIKE '%$%' THEN regexp_replace(result, '([0-9])', '$\1') ELSE result END;
END $$;
CREATE FUNCTION ora.to_char(text, text) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$ SELECT ora.to_char(ora.num($1), $2) $$;
CREATE FUNCTION ora.to_char(float8, text) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$ SELECT ora.to_char($1::numeric, $2) $$;
CREATE FUNCTION ora.to_char(ora.odate, text) RETURNS text LANGUAGE sql STABLE STRICT PARALLEL SAFE AS $$
  SELECT CASE WHEN regexp_replace($2, '"[^"]*"', '', 'g') ~* 'FF|TZ' THEN ora.fail(1821, 'date format not recognized')
    ELSE nullif(pg_catalog.to_char($1::timestamp, ora.pg_format($2)), '') END $$;
CREATE FUNCTION ora.to_char(timestamp, text) RETURNS text LANGUAGE sql STABLE STRICT PARALLEL SAFE AS $$ SELECT nullif(pg_catalog.to_char($1, ora.pg_format($2)), '') $$;
CREATE FUNCTION ora.to_char(timestamptz, text) RETURNS text LANGUAGE sql STABLE STRICT PARALLEL SAFE AS $$ SELECT nullif(pg_catalog.to_char($1, ora.pg_format($2)), '') $$;

-- TO_DATE of a date: it becomes text first, by the session's format.
CREATE FUNCTION ora.to_date(ora.odate, text) RETURNS ora.odate LANGUAGE sql STABLE STRICT PARALLEL SAFE AS $$ SELECT ora.to_date(ora.s($1), $2) $$;
CREATE FUNCTION ora.to_date(timestamp, text) RETURNS ora.odate LANGUAGE sql STABLE STRICT PARALLEL SAFE AS $$ SELECT ora.to_date(ora.s($1), $2) $$;
CREATE FUNCTION ora.to_timestamp(timestamp, text) RETURNS timestamp LANGUAGE sql STABLE STRICT PARALLEL SAFE AS $$ SELECT ora.to_timestamp(ora.s($1), $2) $$;

-- Other values where a text is expected, as Oracle converts them.
DO $$
DECLARE
  f record;
BEGIN
  FOR f IN SELECT * FROM
      (VALUES ('numeric', 'IMMUTABLE'), ('ora.odate', 'STABLE'), ('timestamp', 'STABLE')) AS sources(source, volatility),
      (VALUES ('upper', '', '', 'text'), ('lower', '', '', 'text'), ('length', '', '', 'numeric'), ('lengthb', '', '', 'numeric'),
        ('substr', ', numeric', ', $2', 'text'), ('substr', ', numeric, numeric', ', $2, $3', 'text'),
        ('instr', ', text, numeric DEFAULT 1, numeric DEFAULT 1', ', $2, $3, $4', 'numeric'),
        ('replace', ', text, text DEFAULT NULL', ', $2, $3', 'text'),
        ('ltrim', '', '', 'text'), ('rtrim', '', '', 'text'), ('trim', '', '', 'text'), ('ltrim', ', text', ', $2', 'text'), ('rtrim', ', text', ', $2', 'text'),
        ('lpad', ', numeric, text DEFAULT '' ''', ', $2, $3', 'text'), ('rpad', ', numeric, text DEFAULT '' ''', ', $2, $3', 'text')
      ) AS functions(name, more, passed, result)
    WHERE NOT (source = 'numeric' AND name IN ('length', 'lengthb', 'substr', 'lpad', 'rpad', 'trim'))
  LOOP
    EXECUTE format('CREATE FUNCTION ora.%I(%s%s) RETURNS %s LANGUAGE sql %s PARALLEL SAFE AS $f$ SELECT ora.%1$I(ora.s($1)%6$s) $f$',
      f.name, f.source, f.more, f.result, f.volatility, f.passed);
  END LOOP;
END $$;

-- ---- Dates. DATE and TIMESTAMP have no zone; the host's is UTC.

CREATE FUNCTION ora.sysdate() RETURNS ora.odate LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT ora.timestamp_odate(statement_timestamp() AT TIME ZONE 'UTC') $$;
CREATE FUNCTION ora.today() RETURNS ora.odate LANGUAGE sql STABLE PARALLEL SAFE AS $$ SELECT ora.timestamptz_odate(statement_timestamp()) $$;
CREATE FUNCTION ora.localtimestamp() RETURNS timestamp LANGUAGE sql STABLE PARALLEL SAFE AS $$ SELECT statement_timestamp()::timestamp $$;
CREATE FUNCTION ora.sessiontimezone() RETURNS text LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT pg_catalog.to_char(statement_timestamp(), 'TZH:TZM') $$;
CREATE FUNCTION ora.utc(timestamptz) RETURNS timestamp LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT $1 AT TIME ZONE 'UTC' $$;
CREATE FUNCTION ora.as_date(ora.odate) RETURNS ora.odate LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$ SELECT $1 $$;
CREATE FUNCTION ora.as_date(timestamp) RETURNS ora.odate LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$ SELECT ora.timestamp_odate($1) $$;
CREATE FUNCTION ora.as_date(timestamptz) RETURNS ora.odate LANGUAGE sql STABLE STRICT PARALLEL SAFE AS $$ SELECT ora.timestamptz_odate($1) $$;
CREATE FUNCTION ora.as_date(text) RETURNS ora.odate LANGUAGE sql STABLE STRICT PARALLEL SAFE AS $$ SELECT ora.to_date($1) $$;
CREATE FUNCTION ora.as_timestamp(ora.odate) RETURNS timestamp LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$ SELECT $1::timestamp $$;
CREATE FUNCTION ora.as_timestamp(timestamp) RETURNS timestamp LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$ SELECT $1 $$;
CREATE FUNCTION ora.as_timestamp(timestamptz) RETURNS timestamp LANGUAGE sql STABLE STRICT PARALLEL SAFE AS $$ SELECT $1::timestamp $$;
CREATE FUNCTION ora.as_timestamp(text) RETURNS timestamp LANGUAGE sql STABLE STRICT PARALLEL SAFE AS $$ SELECT ora.to_timestamp($1) $$;
CREATE FUNCTION ora.as_timestamp_tz(timestamptz) RETURNS timestamptz LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$ SELECT $1 $$;
CREATE FUNCTION ora.as_timestamp_tz(timestamp) RETURNS timestamptz LANGUAGE sql STABLE STRICT PARALLEL SAFE AS $$ SELECT $1::timestamptz $$;
CREATE FUNCTION ora.as_timestamp_tz(ora.odate) RETURNS timestamptz LANGUAGE sql STABLE STRICT PARALLEL SAFE AS $$ SELECT $1::timestamp::timestamptz $$;
CREATE FUNCTION ora.as_timestamp_tz(text) RETURNS timestamptz LANGUAGE sql STABLE STRICT PARALLEL SAFE AS $$ SELECT ora.to_timestamp_tz($1) $$;
CREATE FUNCTION ora.from_tz(timestamp, text) RETURNS timestamptz LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE AS $$
BEGIN
  RETURN ora.iso_timestamptz($1::text || ' ' || CASE WHEN $2 ~ '^[0-9]' THEN '+' || $2 ELSE $2 END);
EXCEPTION WHEN invalid_parameter_value OR invalid_datetime_format THEN
  PERFORM ora.fail(1882, 'timezone region not found');
END $$;

CREATE FUNCTION ora.numtodsinterval(n numeric, unit text) RETURNS interval LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
  SELECT CASE pg_catalog.upper(btrim(unit)) WHEN 'DAY' THEN make_interval(secs => (n * 86400)::float8) WHEN 'HOUR' THEN make_interval(secs => (n * 3600)::float8)
    WHEN 'MINUTE' THEN make_interval(secs => (n * 60)::float8) WHEN 'SECOND' THEN make_interval(secs => n::float8)
    ELSE ora.fail(1760, 'illegal argument for function')::interval END $$;
CREATE FUNCTION ora.numtodsinterval(n text, unit text) RETURNS interval LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$ SELECT ora.numtodsinterval(ora.num(n), unit) $$;
CREATE FUNCTION ora.numtoyminterval(n numeric, unit text) RETURNS interval LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
  SELECT CASE pg_catalog.upper(btrim(unit)) WHEN 'YEAR' THEN make_interval(months => round(n * 12)::int4) WHEN 'MONTH' THEN make_interval(months => round(n)::int4)
    ELSE ora.fail(1760, 'illegal argument for function')::interval END $$;
CREATE FUNCTION ora.to_dsinterval(t text) RETURNS interval LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
  p text[] := regexp_match(t, '^\s*([+-]?)\s*(\d{1,9})\s+(\d{1,2}):(\d{1,2}):(\d{1,2}(?:\.\d{1,9})?)\s*$');
BEGIN
  IF p IS NULL THEN
    PERFORM ora.fail(1867, 'the interval is invalid');
  ELSIF p[3]::int4 > 23 THEN
    PERFORM ora.fail(1850, 'hour must be between 0 and 23');
  ELSIF p[4]::int4 > 59 THEN
    PERFORM ora.fail(1851, 'minutes must be between 0 and 59');
  ELSIF p[5]::numeric >= 60 THEN
    PERFORM ora.fail(1852, 'seconds must be between 0 and 59');
  END IF;
  RETURN make_interval(days => p[2]::int4, hours => p[3]::int4, mins => p[4]::int4, secs => p[5]::float8) * CASE WHEN p[1] = '-' THEN -1 ELSE 1 END;
END $$;
CREATE FUNCTION ora.to_yminterval(t text) RETURNS interval LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
  p text[] := regexp_match(t, '^\s*([+-]?)\s*(\d{1,9})\s*-\s*(\d{1,2})\s*$');
BEGIN
  IF p IS NULL THEN
    PERFORM ora.fail(1867, 'the interval is invalid');
  ELSIF p[3]::int4 > 11 THEN
    PERFORM ora.fail(1843, 'An invalid month was specified.');
  END IF;
  RETURN make_interval(months => p[2]::int4 * 12 + p[3]::int4) * CASE WHEN p[1] = '-' THEN -1 ELSE 1 END;
END $$;
CREATE FUNCTION ora.as_interval(interval) RETURNS interval LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$ SELECT $1 $$;
CREATE FUNCTION ora.as_interval(text) RETURNS interval LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$ SELECT ora.to_dsinterval($1) $$;

CREATE FUNCTION ora.extract(field text, t timestamp) RETURNS numeric LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
  SELECT trim_scale(date_part(field, t)::numeric) $$;
CREATE FUNCTION ora.extract(field text, t timestamptz) RETURNS numeric LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
  SELECT trim_scale(date_part(field, t AT TIME ZONE 'UTC')::numeric) $$;
CREATE FUNCTION ora.extract(field text, t interval) RETURNS numeric LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
  SELECT trim_scale(date_part(field, justify_hours(t))::numeric) $$;
CREATE FUNCTION ora.extract(field text, t ora.odate) RETURNS numeric LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
  SELECT CASE WHEN field IN ('year', 'month', 'day') THEN date_part(field, t::timestamp)::numeric
    ELSE ora.fail(30076, 'invalid extract field for extract source')::numeric END $$;

CREATE FUNCTION ora.date_unit(format text) RETURNS text LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
BEGIN
  RETURN CASE pg_catalog.upper(format)
    WHEN 'SYYYY' THEN 'year' WHEN 'YYYY' THEN 'year' WHEN 'YEAR' THEN 'year' WHEN 'YYY' THEN 'year' WHEN 'YY' THEN 'year' WHEN 'Y' THEN 'year'
    WHEN 'Q' THEN 'quarter' WHEN 'MONTH' THEN 'month' WHEN 'MON' THEN 'month' WHEN 'MM' THEN 'month' WHEN 'RM' THEN 'month' WHEN 'IW' THEN 'week'
    WHEN 'DDD' THEN 'day' WHEN 'DD' THEN 'day' WHEN 'J' THEN 'day' WHEN 'HH' THEN 'hour' WHEN 'HH12' THEN 'hour' WHEN 'HH24' THEN 'hour' WHEN 'MI' THEN 'minute'
    WHEN 'CC' THEN 'century' WHEN 'DAY' THEN 'sunday' WHEN 'DY' THEN 'sunday' WHEN 'D' THEN 'sunday'
    WHEN 'IYYY' THEN 'isoyear' WHEN 'IY' THEN 'isoyear' WHEN 'I' THEN 'isoyear' WHEN 'WW' THEN 'week of year' WHEN 'W' THEN 'week of month' ELSE ora.fail(1898, 'too many precision specifiers') END;
END $$;
CREATE FUNCTION ora.trunc(d ora.odate, format text DEFAULT 'DD') RETURNS ora.odate LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
  SELECT ora.timestamp_odate(CASE ora.date_unit(format)
    WHEN 'sunday' THEN date_trunc('day', d::timestamp) - make_interval(days => extract(dow FROM d::timestamp)::int4)
    WHEN 'isoyear' THEN date_trunc('week', make_date(extract(isoyear FROM d::timestamp)::int4, 1, 4)::timestamp)
    WHEN 'week of year' THEN date_trunc('day', d::timestamp) - make_interval(days => (extract(doy FROM d::timestamp)::int4 - 1) % 7)
    WHEN 'week of month' THEN date_trunc('day', d::timestamp) - make_interval(days => (extract(day FROM d::timestamp)::int4 - 1) % 7)
    ELSE date_trunc(ora.date_unit(format), d::timestamp) END) $$;
CREATE FUNCTION ora.trunc(t timestamp, format text DEFAULT 'DD') RETURNS ora.odate LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
  SELECT ora.trunc(ora.timestamp_odate(t), format) $$;
CREATE FUNCTION ora.trunc(t timestamptz, format text DEFAULT 'DD') RETURNS ora.odate LANGUAGE sql STABLE STRICT PARALLEL SAFE AS $$
  SELECT ora.trunc(ora.timestamptz_odate(t), format) $$;
CREATE FUNCTION ora.round(d ora.odate) RETURNS ora.odate LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
  SELECT ora.timestamp_odate(date_trunc('day', d::timestamp + interval '12 hours')) $$;
-- Years round up on July 1, quarters on the 16th of their second month, months on the 16th.
CREATE FUNCTION ora.round(d ora.odate, format text) RETURNS ora.odate LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
  SELECT CASE ora.date_unit(format)
    WHEN 'year' THEN ora.trunc(ora.timestamp_odate(d::timestamp + interval '6 months'), 'YYYY')
    WHEN 'quarter' THEN ora.trunc(ora.timestamp_odate(date_trunc('month', d::timestamp) + interval '1 month'
      + CASE WHEN extract(day FROM d::timestamp) >= 16 THEN interval '1 month' ELSE interval '0' END), 'Q')
    WHEN 'month' THEN ora.trunc(ora.timestamp_odate(d::timestamp + CASE WHEN extract(day FROM d::timestamp) >= 16 THEN interval '16 days' ELSE interval '0' END), 'MM')
    WHEN 'day' THEN ora.round(d)
    WHEN 'hour' THEN ora.trunc(ora.timestamp_odate(d::timestamp + interval '30 minutes'), 'HH24')
    WHEN 'minute' THEN ora.trunc(ora.timestamp_odate(d::timestamp + interval '30 seconds'), 'MI')
    ELSE ora.to_date(ora.fail(3001, 'unimplemented feature: ROUND of a date to ' || format)) END $$;
CREATE FUNCTION ora.round(t timestamp, format text DEFAULT 'DD') RETURNS ora.odate LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
  SELECT ora.round(ora.timestamp_odate(t), format) $$;
CREATE FUNCTION ora.last_day(d ora.odate) RETURNS ora.odate LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
  SELECT ora.timestamp_odate(date_trunc('month', d::timestamp) + interval '1 month - 1 day' + (d::timestamp - date_trunc('day', d::timestamp))) $$;
CREATE FUNCTION ora.last_day(t timestamptz) RETURNS ora.odate LANGUAGE sql STABLE STRICT PARALLEL SAFE AS $$ SELECT ora.last_day(ora.timestamptz_odate(t)) $$;
CREATE FUNCTION ora.last_day(t timestamp) RETURNS ora.odate LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$ SELECT ora.last_day(ora.timestamp_odate(t)) $$;
CREATE FUNCTION ora.add_months(d ora.odate, n numeric) RETURNS ora.odate LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
  SELECT CASE WHEN d = ora.last_day(d) THEN ora.last_day(ora.timestamp_odate(d::timestamp + make_interval(months => trunc(n)::int4)))
    ELSE ora.timestamp_odate(d::timestamp + make_interval(months => trunc(n)::int4)) END $$;
CREATE FUNCTION ora.add_months(t timestamp, n numeric) RETURNS ora.odate LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$ SELECT ora.add_months(ora.timestamp_odate(t), n) $$;
CREATE FUNCTION ora.add_months(t timestamptz, n numeric) RETURNS ora.odate LANGUAGE sql STABLE STRICT PARALLEL SAFE AS $$ SELECT ora.add_months(ora.timestamptz_odate(t), n) $$;
-- An interval of months: a day that the month does not have is an error, ADD_MONTHS would take the last one.
CREATE FUNCTION ora.plus_months(t timestamp, months int4) RETURNS timestamp LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
  SELECT CASE WHEN extract(day FROM t) = extract(day FROM t + make_interval(months => months)) THEN t + make_interval(months => months)
    ELSE ora.fail(1839, 'date not valid for month specified')::timestamp END $$;
CREATE FUNCTION ora.plus_months(d ora.odate, months int4) RETURNS ora.odate LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
  SELECT ora.timestamp_odate(ora.plus_months(d::timestamp, months)) $$;
CREATE FUNCTION ora.plus_months(t timestamptz, months int4) RETURNS timestamptz LANGUAGE sql STABLE STRICT PARALLEL SAFE AS $$
  SELECT ora.plus_months(t::timestamp, months)::timestamptz $$;
CREATE FUNCTION ora.months_between(a timestamp, b timestamp) RETURNS numeric LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
  SELECT trim_scale(round((extract(year FROM a) - extract(year FROM b)) * 12 + extract(month FROM a) - extract(month FROM b)
    + CASE WHEN extract(day FROM a) = extract(day FROM b)
        OR (date_trunc('day', a) = date_trunc('month', a) + interval '1 month - 1 day' AND date_trunc('day', b) = date_trunc('month', b) + interval '1 month - 1 day') THEN 0
      ELSE (extract(epoch FROM a - date_trunc('month', a)) - extract(epoch FROM b - date_trunc('month', b))) / 86400 / 31 END, 38)) $$;
CREATE FUNCTION ora.next_day(d ora.odate, weekday text) RETURNS ora.odate LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
  wanted int4 := array_position(ARRAY['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT'], left(pg_catalog.upper(btrim(weekday)), 3)) - 1;
BEGIN
  IF wanted IS NULL THEN
    PERFORM ora.fail(1846, 'not a valid day of the week');
  END IF;
  RETURN ora.timestamp_odate(d::timestamp + make_interval(days => (wanted - extract(dow FROM d::timestamp)::int4 + 6) % 7 + 1));
END $$;

-- ---- RAW, LOB.

CREATE FUNCTION ora.rawtohex(bytea) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$ SELECT nullif(pg_catalog.upper(encode($1, 'hex')), '') $$;
CREATE FUNCTION ora.rawtohex(text) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$ SELECT nullif(pg_catalog.upper(encode(convert_to($1, 'UTF8'), 'hex')), '') $$;
CREATE FUNCTION ora.hextoraw(t text) RETURNS bytea LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
BEGIN
  IF t !~ '^[0-9A-Fa-f]+$' THEN
    PERFORM ora.fail(1465, 'invalid hex number');
  END IF;
  RETURN decode(CASE WHEN length(t) % 2 = 1 THEN '0' || t ELSE t END, 'hex');
END $$;
CREATE FUNCTION ora.as_raw(bytea) RETURNS bytea LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$ SELECT $1 $$;
CREATE FUNCTION ora.as_raw(text) RETURNS bytea LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$ SELECT ora.hextoraw($1) $$;
-- A RAW beside text: Oracle converts the text. Not STRICT, so that they are inlined and an index on the RAW serves them.
CREATE FUNCTION ora.raw_text_eq(bytea, text) RETURNS bool LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT $1 = ora.as_raw($2) $$;
CREATE FUNCTION ora.raw_text_ne(bytea, text) RETURNS bool LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT $1 <> ora.as_raw($2) $$;
CREATE FUNCTION ora.text_raw_eq(text, bytea) RETURNS bool LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT ora.as_raw($1) = $2 $$;
CREATE FUNCTION ora.text_raw_ne(text, bytea) RETURNS bool LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT ora.as_raw($1) <> $2 $$;
CREATE OPERATOR ora.= (LEFTARG = bytea, RIGHTARG = text, FUNCTION = ora.raw_text_eq);
CREATE OPERATOR ora.<> (LEFTARG = bytea, RIGHTARG = text, FUNCTION = ora.raw_text_ne);
CREATE OPERATOR ora.= (LEFTARG = text, RIGHTARG = bytea, FUNCTION = ora.text_raw_eq);
CREATE OPERATOR ora.<> (LEFTARG = text, RIGHTARG = bytea, FUNCTION = ora.text_raw_ne);
-- A BOOLEAN beside a number: 0 is FALSE.
CREATE FUNCTION ora.boolean_number_eq(bool, numeric) RETURNS bool LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT $1 = ($2 <> 0) $$;
CREATE FUNCTION ora.boolean_number_ne(bool, numeric) RETURNS bool LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT $1 <> ($2 <> 0) $$;
CREATE FUNCTION ora.number_boolean_eq(numeric, bool) RETURNS bool LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT ($1 <> 0) = $2 $$;
CREATE FUNCTION ora.number_boolean_ne(numeric, bool) RETURNS bool LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT ($1 <> 0) <> $2 $$;
CREATE OPERATOR ora.= (LEFTARG = bool, RIGHTARG = numeric, FUNCTION = ora.boolean_number_eq);
CREATE OPERATOR ora.<> (LEFTARG = bool, RIGHTARG = numeric, FUNCTION = ora.boolean_number_ne);
CREATE OPERATOR ora.= (LEFTARG = numeric, RIGHTARG = bool, FUNCTION = ora.number_boolean_eq);
CREATE OPERATOR ora.<> (LEFTARG = numeric, RIGHTARG = bool, FUNCTION = ora.number_boolean_ne);
CREATE CAST (text AS bytea) WITH FUNCTION ora.as_raw(text) AS ASSIGNMENT;
CREATE FUNCTION ora.sys_guid() RETURNS bytea LANGUAGE sql VOLATILE AS $$ SELECT uuid_send(gen_random_uuid()) $$;
CREATE FUNCTION ora.standard_hash(data bytea, method text DEFAULT 'SHA1') RETURNS bytea LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
BEGIN
  RETURN CASE pg_catalog.upper(method) WHEN 'SHA256' THEN sha256(data) WHEN 'SHA384' THEN sha384(data) WHEN 'SHA512' THEN sha512(data)
    WHEN 'MD5' THEN decode(md5(data), 'hex') WHEN 'SHA1' THEN ora.fail(3001, 'unimplemented feature: STANDARD_HASH with SHA1')::bytea
    ELSE ora.fail(1760, 'illegal argument for function')::bytea END;
END $$;
CREATE FUNCTION ora.standard_hash(data text, method text DEFAULT 'SHA1') RETURNS bytea LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
  SELECT ora.standard_hash(convert_to(data, 'UTF8'), method) $$;
CREATE FUNCTION ora.utl_raw_cast_to_raw(text) RETURNS bytea LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$ SELECT convert_to($1, 'UTF8') $$;
CREATE FUNCTION ora.utl_raw_cast_to_varchar2(bytea) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$ SELECT convert_from($1, 'UTF8') $$;
CREATE FUNCTION ora.utl_raw_length(bytea) RETURNS numeric LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$ SELECT pg_catalog.length($1)::numeric $$;
CREATE FUNCTION ora.utl_raw_substr(r bytea, start numeric, size numeric DEFAULT 2147483647) RETURNS bytea LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
  SELECT pg_catalog.substr(r, CASE WHEN start < 0 THEN pg_catalog.length(r) + start::int4 + 1 ELSE greatest(start::int4, 1) END, least(size, pg_catalog.length(r))::int4) $$;
CREATE FUNCTION ora.to_clob(text) RETURNS ora.clob LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$ SELECT $1::ora.clob $$;
CREATE FUNCTION ora.to_clob(numeric) RETURNS ora.clob LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$ SELECT ora.s($1)::ora.clob $$;
CREATE FUNCTION ora.to_clob(jsonb) RETURNS ora.clob LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$ SELECT ora.json_text($1)::ora.clob $$;
CREATE FUNCTION ora.to_blob(bytea) RETURNS ora.blob LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$ SELECT $1::ora.blob $$;
CREATE FUNCTION ora.empty_clob() RETURNS ora.clob LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT ''::text::ora.clob $$;
CREATE FUNCTION ora.empty_blob() RETURNS ora.blob LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT ''::bytea::ora.blob $$;
CREATE FUNCTION ora.dbms_lob_getlength(text) RETURNS numeric LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$ SELECT pg_catalog.length($1)::numeric $$;
CREATE FUNCTION ora.dbms_lob_getlength(bytea) RETURNS numeric LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$ SELECT pg_catalog.length($1)::numeric $$;
CREATE FUNCTION ora.dbms_lob_substr(text, numeric DEFAULT 32767, numeric DEFAULT 1) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
  SELECT CASE WHEN $2 >= 1 AND $3 >= 1 THEN nullif(pg_catalog.substr($1, $3::int4, $2::int4), '') END $$;
CREATE FUNCTION ora.dbms_lob_substr(bytea, numeric DEFAULT 32767, numeric DEFAULT 1) RETURNS bytea LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
  SELECT CASE WHEN $2 >= 1 AND $3 >= 1 THEN pg_catalog.substr($1, $3::int4, $2::int4) END $$;
CREATE FUNCTION ora.dbms_lob_instr(text, text, numeric DEFAULT 1, numeric DEFAULT 1) RETURNS numeric LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$ SELECT ora.instr($1, $2, $3, $4) $$;
CREATE FUNCTION ora.dbms_lob_compare(text, text) RETURNS numeric LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
  SELECT CASE WHEN $1 = $2 THEN 0 WHEN $1 < $2 THEN -1 ELSE 1 END::numeric $$;
CREATE FUNCTION ora.dbms_lob_compare(bytea, bytea) RETURNS numeric LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
  SELECT CASE WHEN $1 = $2 THEN 0 WHEN $1 < $2 THEN -1 ELSE 1 END::numeric $$;

-- ---- JSON.

-- Text that is no JSON is NULL here (NULL ON ERROR), and ORA-40441 in json_strict.
CREATE FUNCTION ora.json(jsonb) RETURNS jsonb LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT $1 $$;
-- No SQL function: a constant would be cast while the statement is planned, before it is tested.
CREATE FUNCTION ora.json(t text) RETURNS jsonb LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
  RETURN CASE WHEN t IS JSON THEN t::jsonb END;
END $$;
CREATE FUNCTION ora.json(b bytea) RETURNS jsonb LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT ora.json(convert_from(b, 'UTF8')) $$;
CREATE FUNCTION ora.json_strict(jsonb) RETURNS jsonb LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT $1 $$;
CREATE FUNCTION ora.json_strict(t text) RETURNS jsonb LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
  IF t IS NOT NULL AND NOT (t IS JSON) THEN
    RAISE EXCEPTION USING ERRCODE = 'OR000', DETAIL = '40441', MESSAGE = 'JSON syntax error';
  END IF;
  RETURN t::jsonb;
END $$;
CREATE FUNCTION ora.json_strict(b bytea) RETURNS jsonb LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT ora.json_strict(convert_from(b, 'UTF8')) $$;
CREATE FUNCTION ora.is_json(jsonb) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT $1 IS NOT NULL OR NULL $$;
CREATE FUNCTION ora.is_json(text) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT $1 IS JSON $$;
CREATE FUNCTION ora.is_json(bytea) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT $1 IS JSON $$;
-- A value as a piece of JSON text.
CREATE FUNCTION ora.json_fragment(text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT to_json($1)::text $$;
CREATE FUNCTION ora.json_fragment(numeric) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT trim_scale($1)::text $$;
CREATE FUNCTION ora.json_fragment(float8) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT to_json($1)::text $$;
CREATE FUNCTION ora.json_fragment(boolean) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT $1::text $$;
CREATE FUNCTION ora.json_fragment(jsonb) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT ora.json_text($1) $$;
CREATE FUNCTION ora.json_fragment(ora.odate) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT to_json($1::timestamp)::text $$;
CREATE FUNCTION ora.json_fragment(timestamp) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT '"' || pg_catalog.to_char($1, 'YYYY-MM-DD"T"HH24:MI:SS.US') || '"' $$;
CREATE FUNCTION ora.json_fragment(timestamptz) RETURNS text LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT '"' || pg_catalog.to_char($1 AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US') || 'Z"' $$;
CREATE FUNCTION ora.json_fragment(bytea) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT '"' || pg_catalog.upper(encode($1, 'hex')) || '"' $$;
CREATE FUNCTION ora.json_fragment(vector) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT $1::text $$;
CREATE FUNCTION ora.json_object(absent boolean, VARIADIC pairs text[]) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT '{' || coalesce(string_agg(to_json(pairs[n])::text || ':' || coalesce(pairs[n + 1], 'null'), ',' ORDER BY n), '') || '}'
  FROM generate_series(1, cardinality(pairs), 2) AS g(n) WHERE NOT absent OR pairs[n + 1] IS NOT NULL $$;
CREATE FUNCTION ora.json_array(absent boolean, VARIADIC items text[]) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT '[' || coalesce(string_agg(coalesce(item, 'null'), ',' ORDER BY place), '') || ']'
  FROM unnest(items) WITH ORDINALITY AS u(item, place) WHERE NOT absent OR item IS NOT NULL $$;
CREATE FUNCTION ora.json_mergepatch(target jsonb, patch jsonb) RETURNS jsonb LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
  entry record;
  result jsonb := CASE WHEN jsonb_typeof(target) = 'object' THEN target ELSE '{}'::jsonb END;
BEGIN
  IF jsonb_typeof(patch) <> 'object' THEN
    RETURN patch;
  END IF;
  FOR entry IN SELECT key, value FROM jsonb_each(patch) LOOP
    IF entry.value = 'null'::jsonb THEN
      result := result - entry.key;
    ELSE
      result := result || jsonb_build_object(entry.key, ora.json_mergepatch(coalesce(result -> entry.key, 'null'), entry.value));
    END IF;
  END LOOP;
  RETURN result;
END $$;
-- Whether one of the texts that a path leads to compares with a pattern. A repetition at the very start of a regular
-- expression repeats nothing.
CREATE FUNCTION ora.json_text_compares(comparison text, document jsonb, path jsonpath, pattern text) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT EXISTS (SELECT 1 FROM jsonb_path_query(document, path) AS q(item) WHERE jsonb_typeof(q.item) = 'string' AND CASE comparison
    WHEN 'has substring' THEN strpos(q.item #>> '{}', pattern) > 0
    WHEN 'like' THEN q.item #>> '{}' LIKE pattern ESCAPE ''
    WHEN 'like_regex' THEN q.item #>> '{}' ~ pg_catalog.regexp_replace(pattern, '^[*]+', '')
    ELSE q.item #>> '{}' ~ ('^(?:' || pg_catalog.regexp_replace(pattern, '^[*]+', '') || ')$') END) $$;
-- JSON_TRANSFORM: SET replaces or adds, REPLACE only replaces, INSERT only adds.
CREATE FUNCTION ora.json_set(j jsonb, path text[], item jsonb) RETURNS jsonb LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$ SELECT jsonb_set(j, path, item, true) $$;
CREATE FUNCTION ora.json_replace(j jsonb, path text[], item jsonb) RETURNS jsonb LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$ SELECT jsonb_set(j, path, item, false) $$;
CREATE FUNCTION ora.json_insert(j jsonb, path text[], item jsonb) RETURNS jsonb LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
  SELECT CASE WHEN j #> path IS NULL THEN jsonb_set(j, path, item, true) ELSE ora.fail(40763, 'existing value in INSERT operation of JSON_TRANSFORM')::jsonb END $$;

-- ---- Vectors.

CREATE FUNCTION ora.vector_dims(vector) RETURNS numeric LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$ SELECT public.vector_dims($1)::numeric $$;
CREATE FUNCTION ora.vector_norm(vector) RETURNS float8 LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$ SELECT public.vector_norm($1) $$;
CREATE FUNCTION ora.vector_format(vector) RETURNS ora.varchar2 LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$ SELECT 'FLOAT32'::text::ora.varchar2 $$;
CREATE FUNCTION ora.vector_format(v vector, relation text, attribute text) RETURNS text LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE AS $$
BEGIN
  RETURN CASE (SELECT i.vector_format FROM ora.column_info i JOIN pg_attribute a ON a.attrelid = i.rel AND a.attnum = i.number
    WHERE i.rel = to_regclass(relation) AND ora.name_of(a.attname) = attribute) WHEN 3 THEN 'FLOAT64' WHEN 4 THEN 'INT8' ELSE 'FLOAT32' END;
END $$;
CREATE FUNCTION ora.as_int8(v vector) RETURNS vector LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
BEGIN
  PERFORM ora.fits_int8(v);
  RETURN v;
END $$;
CREATE FUNCTION ora.hamming_distance(a vector, b vector) RETURNS float8 LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
BEGIN
  IF public.vector_dims(a) <> public.vector_dims(b) THEN
    PERFORM ora.fail(51808, format('VECTOR_DISTANCE() is not supported for vectors with different dimension counts (%s, %s)', public.vector_dims(a), public.vector_dims(b)));
  END IF;
  RETURN (SELECT count(*) FROM unnest(a::real[], b::real[]) AS u(x, y) WHERE x <> y)::float8;
END $$;
CREATE FUNCTION ora.jaccard_distance(vector, vector) RETURNS float8 LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT ora.fail(51837, 'JACCARD distance is for BINARY vectors only')::float8 $$;

-- ---- What a session knows of itself.

CREATE FUNCTION ora.sys_context(namespace text, parameter text, size numeric DEFAULT 256) RETURNS ora.varchar2 LANGUAGE plpgsql STABLE PARALLEL SAFE AS $$
DECLARE
  key text := pg_catalog.lower(parameter);
BEGIN
  IF pg_catalog.upper(namespace) <> 'USERENV' THEN
    IF namespace !~ '^[\w$#]+$' OR parameter !~ '^[\w$#]+$' THEN
      RETURN NULL;
    END IF;
    RETURN left(nullif(current_setting('ora.context_' || pg_catalog.lower(translate(namespace, '$#', '__')) || '_' || translate(key, '$#', '__'), true), ''), size::int4)::ora.varchar2;
  END IF;
  RETURN left(CASE key
    WHEN 'current_schema' THEN ora.name_of(current_schema())
    WHEN 'session_user' THEN current_setting('ora.user')
    WHEN 'current_user' THEN current_setting('ora.user')
    WHEN 'sid' THEN pg_backend_pid()::text
    WHEN 'sessionid' THEN pg_backend_pid()::text
    WHEN 'db_name' THEN ora.setting('ora.env_db_name', 'FREEPDB1')
    WHEN 'db_unique_name' THEN ora.setting('ora.env_db_name', 'FREEPDB1')
    WHEN 'con_name' THEN ora.setting('ora.env_db_name', 'FREEPDB1')
    WHEN 'con_id' THEN '3'
    WHEN 'service_name' THEN ora.setting('ora.env_service_name', 'freepdb1')
    WHEN 'instance_name' THEN 'FREE'
    WHEN 'instance' THEN '1'
    WHEN 'server_host' THEN 'localhost'
    WHEN 'language' THEN 'AMERICAN_AMERICA.AL32UTF8'
    WHEN 'lang' THEN 'US'
    WHEN 'isdba' THEN 'FALSE'
    WHEN 'nls_date_format' THEN ora.nls_date()
    WHEN 'nls_territory' THEN 'AMERICA'
    WHEN 'nls_date_language' THEN 'AMERICAN'
    WHEN 'nls_sort' THEN 'BINARY'
    WHEN 'authentication_method' THEN 'PASSWORD'
    WHEN 'network_protocol' THEN 'tcp'
    WHEN 'client_identifier' THEN ora.setting('ora.env_client_identifier', NULL)
    WHEN 'client_info' THEN ora.setting('ora.env_client_info', NULL)
    WHEN 'module' THEN ora.setting('ora.env_module', NULL)
    WHEN 'action' THEN ora.setting('ora.env_action', NULL)
    WHEN 'host' THEN ora.setting('ora.env_host', NULL)
    WHEN 'os_user' THEN ora.setting('ora.env_os_user', NULL)
    WHEN 'ip_address' THEN ora.setting('ora.env_ip_address', '127.0.0.1')
    WHEN 'terminal' THEN ora.setting('ora.env_terminal', NULL)
    WHEN 'proxy_user' THEN NULL
    WHEN 'cloud_service' THEN NULL
    WHEN 'database_role' THEN 'PRIMARY'
    WHEN 'cdb_name' THEN 'FREE'
    ELSE ora.fail(2003, 'invalid USERENV parameter') END, size::int4)::ora.varchar2;
END $$;
CREATE FUNCTION ora.userenv(parameter text) RETURNS ora.varchar2 LANGUAGE sql STABLE PARALLEL SAFE AS $$ SELECT ora.sys_context('USERENV', $1) $$;

--- ---- VECTOR_CHUNKS: pieces of so many characters, cut anywhere. Offsets are in characters of a CLOB, in bytes of a text.

CREATE FUNCTION ora.vector_pieces(t text, size int4) RETURNS TABLE (start int4, piece text) LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
  IF t IS NULL OR t = '' THEN
    PERFORM ora.fail(3001, 'unimplemented feature: VECTOR_CHUNKS of NULL');
  END IF;
  FOR start IN SELECT generate_series(1, length(t), size) LOOP
    piece := pg_catalog.substr(t, start, size);
    IF octet_length(piece) > 4000 THEN
      PERFORM ora.fail(3001, 'unimplemented feature: VECTOR_CHUNKS with a piece of more than 4000 bytes');
    END IF;
    RETURN QUERY SELECT start, piece;
  END LOOP;
END $$;
CREATE FUNCTION ora.vector_chunks(t text, size int4) RETURNS TABLE ("CHUNK_OFFSET" numeric, "CHUNK_LENGTH" numeric, "CHUNK_TEXT" ora.varchar2) LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT octet_length(pg_catalog.substr(t, 1, p.start - 1)) + 1, octet_length(p.piece), p.piece::ora.varchar2 FROM ora.vector_pieces(t, size) AS p $$;
-- A character outside the Basic Multilingual Plane may count as two in a CLOB.
CREATE FUNCTION ora.vector_chunks(t ora.clob, size int4) RETURNS TABLE ("CHUNK_OFFSET" numeric, "CHUNK_LENGTH" numeric, "CHUNK_TEXT" ora.varchar2) LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT p.start, length(p.piece), p.piece::ora.varchar2
  FROM ora.vector_pieces(CASE WHEN t::text ~ '[\U00010000-\U0010FFFF]'
    THEN ora.fail(3001, 'unimplemented feature: VECTOR_CHUNKS of a CLOB with characters outside of the Basic Multilingual Plane') ELSE t::text END, size) AS p $$;
CREATE FUNCTION ora.vector_chunks(t bpchar, size int4) RETURNS TABLE ("CHUNK_OFFSET" numeric, "CHUNK_LENGTH" numeric, "CHUNK_TEXT" ora.varchar2) LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT c.* FROM ora.vector_chunks(ora.padded(t), size) AS c $$;
