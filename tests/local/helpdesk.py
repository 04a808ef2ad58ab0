"""A small schema that was there before oraclerag: people, teams and tickets, with what such schemas have."""

from __future__ import annotations

import oracledb

__all__ = ["PARTS", "create"]

PARTS = """
CREATE TABLE team (id NUMBER(9) PRIMARY KEY, name VARCHAR2(100) NOT NULL)
/
COMMENT ON TABLE team IS 'Who works on tickets'
/
CREATE TABLE employees (employee_id NUMBER(6) PRIMARY KEY, first_name VARCHAR2(50), last_name VARCHAR2(50) NOT NULL,
  email VARCHAR2(200), password_hash VARCHAR2(200), salary NUMBER(10,2), manager_id NUMBER(6),
  CONSTRAINT emp_manager_fk FOREIGN KEY (manager_id) REFERENCES employees (employee_id))
/
CREATE TABLE ticket (id NUMBER(9) PRIMARY KEY, subject VARCHAR2(200) NOT NULL, body CLOB, status VARCHAR2(20) NOT NULL,
  priority NUMBER(1), assignee_id NUMBER(6), reported_by NUMBER(6), team_id NUMBER(9), parent_id NUMBER(9),
  api_token VARCHAR2(100), payload JSON, screenshot BLOB, opened_at DATE NOT NULL, due DATE, link_url VARCHAR2(500),
  CONSTRAINT ticket_assignee_fk FOREIGN KEY (assignee_id) REFERENCES employees (employee_id),
  CONSTRAINT ticket_reporter_fk FOREIGN KEY (reported_by) REFERENCES employees (employee_id),
  CONSTRAINT ticket_team_fk FOREIGN KEY (team_id) REFERENCES team (id),
  CONSTRAINT ticket_parent_fk FOREIGN KEY (parent_id) REFERENCES ticket (id))
/
COMMENT ON COLUMN ticket.body IS 'What happened, in the words of the person who reports it'
/
COMMENT ON COLUMN ticket.priority IS 'Urgency (1 is highest)'
/
CREATE TABLE ticket_comment (id NUMBER(9) PRIMARY KEY, ticket_id NUMBER(9) NOT NULL, written_at DATE, body VARCHAR2(2000),
  CONSTRAINT comment_ticket_fk FOREIGN KEY (ticket_id) REFERENCES ticket (id) ON DELETE CASCADE)
/
CREATE TABLE timesheet (id NUMBER(9) PRIMARY KEY, ticket_id NUMBER(9), note VARCHAR2(100),
  CONSTRAINT timesheet_ticket_fk FOREIGN KEY (ticket_id) REFERENCES ticket (id))
/
CREATE TABLE audit_line (happened DATE, what VARCHAR2(100))
/
CREATE VIEW open_ticket AS SELECT id, subject, body FROM ticket WHERE status = 'OPEN'
/
INSERT INTO team VALUES (1, 'Payments')
/
INSERT INTO employees VALUES (7, 'Ana', 'Ruiz', 'ana@example.com', 'x', 1000, NULL)
/
INSERT INTO employees VALUES (8, 'Ben', 'Okoro', 'ben@example.com', 'x', 1000, 7)
/
INSERT INTO ticket (id, subject, body, status, priority, assignee_id, reported_by, team_id, opened_at)
VALUES (1, 'Payments are late', 'The batch of the night ends at noon.', 'OPEN', 1, 7, 8, 1, DATE '2026-03-31')
/
INSERT INTO ticket (id, subject, body, status, assignee_id, team_id, parent_id, opened_at)
VALUES (2, 'Printer on floor 3', NULL, 'CLOSED', 8, 1, 1, DATE '2026-04-02')
/
INSERT INTO ticket_comment VALUES (1, 1, DATE '2026-04-01', 'An index was missing.')
/
INSERT INTO ticket_comment VALUES (2, 1, DATE '2026-04-01', 'It is there now.')
"""


def create(connection: oracledb.Connection) -> None:
    """Make the tables and their rows; commits."""
    with connection.cursor() as cursor:
        for statement in PARTS.split("\n/\n"):
            cursor.execute(statement.strip())
    connection.commit()
